// Feeds every file in the folders named on the command line to a fuzz target, once: what was found before
// stays fixed, also in builds without libFuzzer. Fails when there is nothing to feed.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** words) {
    std::size_t fed = 0;
    for (int i = 1; i < count; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator(words[i])) {
            std::ifstream file(entry.path(), std::ios::binary);
            const std::vector<char> text(std::istreambuf_iterator<char>(file), {});
            const std::vector<std::uint8_t> bytes(text.begin(), text.end());
            std::printf("%s: %zu bytes\n", entry.path().c_str(), bytes.size());
            std::fflush(stdout);  // the last line names the input that crashed
            LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
            ++fed;
        }
    }
    std::printf("%zu inputs\n", fed);
    return fed == 0 ? 1 : 0;
}
