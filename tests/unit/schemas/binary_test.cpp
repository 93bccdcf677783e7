// Protects bytes: the same value always gives the same ones, any bytes are read or refused, and no changed
// envelope is accepted.
#include "schemas/binary.hpp"

#include <gmock/gmock.h>

#include "runtime/crypto.hpp"
#include "schemas/commands/all.hpp"
#include "schemas/feature_flags.hpp"
#include "tests/support/seeded_random.hpp"

namespace herald::test {
namespace {

using namespace schemas;
using namespace schemas::commands;

model_version full_version() {
    model_version version;
    version.id.value = 7;
    version.version = "v1";
    version.time_created = -5;
    version.labels = {"", "b"};
    version.attributes = {{"k", {"{\"a\":1}"}, {}}};
    version.model.emplace().key = "model";
    version.stage = stage::unknown;
    version.hide_input_label = true;
    return version;
}

TEST(binary, gives_back_what_was_written) {
    const std::string bytes = encode(full_version());
    const auto read = decode<model_version>(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(encode(*read), bytes);
    EXPECT_EQ(read->labels, full_version().labels);
    EXPECT_EQ(read->model->key, "model");
    EXPECT_EQ(read->time_created, -5);
}

TEST(binary, an_absent_field_is_zero_whatever_the_default_in_memory) {
    EXPECT_EQ(decode<model_version>(encode(full_version()))->stage, stage::unknown);
    feature_flag off;
    off.enabled = false;
    EXPECT_FALSE(decode<feature_flag>(encode(off))->enabled);
    workspace nested;
    nested.policies.approvals_required = 0;
    EXPECT_EQ(decode<workspace>(encode(nested))->policies.approvals_required, 0u);
}

TEST(binary, skips_fields_that_it_does_not_know) {
    std::string bytes = encode(no_operation{});
    append_varint(bytes, 4000 * 4 + 2);
    append_varint(bytes, 3);
    bytes += "new";
    EXPECT_TRUE(decode<no_operation>(bytes));
    EXPECT_TRUE(decode<genesis>(bytes));
}

TEST(binary, refuses_or_reads_any_bytes_and_never_reads_beyond_them) {
    test::seeded_random random(1);
    const std::string good = encode(full_version());
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes = good.substr(0, random.below(good.size() + 1));
        for (std::uint64_t changes = random.below(4); changes > 0 && !bytes.empty(); --changes)
            bytes[random.below(bytes.size())] = static_cast<char>(random.number());
        const auto read = decode<model_version>(bytes);
        if (read) EXPECT_TRUE(decode<model_version>(encode(*read)));
    }
}

TEST(binary, refuses_fields_out_of_order_and_padded_numbers) {
    EXPECT_FALSE(decode<feature_flag>(std::string_view("\x08\x01\x04\x01", 4)));
    EXPECT_FALSE(decode<feature_flag>(std::string_view("\x08\x81\x00", 3)));
}

TEST(binary, sorts_big_endian_numbers_as_numbers) {
    EXPECT_LT(big_endian(255), big_endian(256));
    EXPECT_EQ(big_endian(256), std::string("\0\0\0\0\0\0\1\0", 8));
    EXPECT_EQ(read_big_endian(big_endian(256)), 256u);
}

TEST(envelope, is_refused_when_a_single_bit_differs) {
    const std::string bytes = seal_envelope({});
    ASSERT_TRUE(open_envelope(bytes));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(open_envelope(changed)) << i;
    }
}

}  // namespace
}  // namespace herald::test
