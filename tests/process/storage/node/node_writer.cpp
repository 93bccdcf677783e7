// Creates models in a standalone registry until it is killed, and prints the name of each once it is
// answered. Usage: node_writer <data folder> <prefix of names>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tests/process/storage/node/standalone.hpp"

int main(int argument_count, char** arguments) {
    if (argument_count != 3) return 2;
    herald::test::standalone registry(arguments[1]);
    if (!registry.problem.empty()) {
        std::fprintf(stderr, "%s\n", registry.problem.c_str());
        return 1;
    }
    for (int i = 0;; ++i) {
        const std::string name = std::string(arguments[2]) + std::to_string(i);
        if (registry.create_model(name).code != 0) return 1;
        const std::string line = name + "\n";
        if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return 0;
    }
}
