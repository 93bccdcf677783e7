// main() of the GoogleTest programs. A program of which a test was skipped, and none failed, says so to
// ctest.
#include <gmock/gmock.h>

namespace {

constexpr int skipped = 77;  // SKIP_RETURN_CODE of gtest_cases.cmake

}  // namespace

int main(int count, char** arguments) {
    testing::InitGoogleMock(&count, arguments);
    const int code = RUN_ALL_TESTS();
    const bool has_skipped = testing::UnitTest::GetInstance()->skipped_test_count() > 0;
    return code == 0 && has_skipped ? skipped : code;
}
