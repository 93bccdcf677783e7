// Protects P6: no delivery connects to an address that the operator has not allowed. Every refused range is
// tested at its edges and just outside them.
#include "runtime/http/client/address_policy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace herald::test {
namespace {

using namespace runtime::http::client;

ip_address address(const std::string& text) {
    const auto parsed = ip_address::parse(text);
    EXPECT_TRUE(parsed) << text;
    return parsed.value_or(ip_address{});
}

address_policy policy_of(const std::string& blocks) {
    const auto policy = address_policy::parse(blocks);
    EXPECT_TRUE(policy) << blocks;
    return policy ? *policy : address_policy();
}

bool allowed(const std::string& text, const std::string& blocks = "") {
    return policy_of(blocks).judge(address(text)).allowed;
}

/// An empty neighbour is outside the address space or in the next refused range.
struct edges {
    const char* before;
    const char* first;
    const char* last;
    const char* after;
};

void expect_refused(const edges& range) {
    EXPECT_FALSE(allowed(range.first)) << range.first;
    EXPECT_FALSE(allowed(range.last)) << range.last;
    for (const std::string neighbour : {range.before, range.after}) {
        EXPECT_TRUE(neighbour.empty() || allowed(neighbour)) << neighbour;
    }
}

TEST(address_policy, every_refused_ipv4_range_ends_exactly_at_its_edges) {
    const std::vector<edges> ranges{
        {"", "0.0.0.0", "0.255.255.255", "1.0.0.0"},
        {"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
        {"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
        {"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
        {"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
        {"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
        {"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
        {"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
        {"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
        {"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
        {"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
        {"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
        {"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
        {"223.255.255.255", "224.0.0.0", "239.255.255.255", ""},
        {"", "240.0.0.0", "255.255.255.255", ""},
        {"168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"},
    };
    for (const edges& range : ranges) expect_refused(range);
}

TEST(address_policy, of_ipv6_only_the_public_internet_is_allowed_less_its_special_ranges) {
    const std::string ones = "ffff:ffff:ffff:ffff:ffff:ffff";
    EXPECT_FALSE(allowed("1fff:ffff:" + ones));
    EXPECT_TRUE(allowed("2000::"));
    EXPECT_TRUE(allowed("3fff:ffff:" + ones));
    EXPECT_FALSE(allowed("4000::"));
    const std::vector<edges> ranges{
        {"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff",
         "2001:1::"},
        {"2001:f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", ""},
        {"", "2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:30::"},
        {"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
         "2001:db9::"},
        {"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
         "2003::"},
        {"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
         "3fff:1000::"},
    };
    for (const edges& range : ranges) expect_refused(range);
    for (const char* special : {"::", "::1", "::8.8.8.8", "::ffff:0:8.8.8.8", "100::1", "5f00::1", "fc00::1",
                                "fd12::1", "fe80::1", "fec0::1", "ff02::1"}) {
        EXPECT_FALSE(allowed(special)) << special;
    }
}

TEST(address_policy, an_ipv4_address_in_ipv6_clothes_is_judged_as_what_is_inside) {
    for (const std::string wrapper : {"::ffff:", "64:ff9b::", "64:ff9b:1::"}) {
        EXPECT_TRUE(allowed(wrapper + "8.8.8.8")) << wrapper;
        EXPECT_TRUE(allowed(wrapper + "200.1.2.3")) << wrapper;
        EXPECT_FALSE(allowed(wrapper + "127.0.0.1")) << wrapper;
        EXPECT_FALSE(allowed(wrapper + "169.254.169.254")) << wrapper;
        EXPECT_TRUE(allowed(wrapper + "127.0.0.1", "127.0.0.0/8")) << wrapper;
    }
    EXPECT_FALSE(allowed("64:ff9b::1:808:808")) << "one after the last of 64:ff9b::/96";
    EXPECT_TRUE(allowed("64:ff9b:1:8000::8.8.8.8"));
    EXPECT_FALSE(allowed("64:ff9b:2::8.8.8.8")) << "one after the last of 64:ff9b:1::/48";
    EXPECT_FALSE(allowed("::fffe:8.8.8.8"));
    EXPECT_FALSE(allowed("::1:0:8.8.8.8"));
}

TEST(address_policy, a_local_nat64_address_is_refused_if_any_reading_of_it_is) {
    // 169.254.169.254 where a prefix of 48, 56 and 64 bits would put it, and 8.8.8.8 at the end.
    EXPECT_FALSE(allowed("64:ff9b:1:a9fe:a9:fe00:808:808"));
    EXPECT_FALSE(allowed("64:ff9b:1:00a9:00fe:a9fe:808:808"));
    EXPECT_FALSE(allowed("64:ff9b:1:0:00a9:fea9:fe08:808"));
}

TEST(address_policy, allowing_tunnels_does_not_allow_the_private_network_behind_them) {
    EXPECT_FALSE(allowed("2002:808:808::1"));
    EXPECT_TRUE(allowed("2002:808:808::1", "2002::/16"));
    EXPECT_FALSE(allowed("2002:a00:1::1", "2002::/16"));
    EXPECT_TRUE(allowed("2002:a00:1::1", "2002::/16,10.0.0.0/8"));
    EXPECT_FALSE(allowed("2002:a00:1::1", "10.0.0.0/8"));
    // Teredo: server 8.8.8.8; client 8.8.4.4, then 10.0.0.1, with inverted bits.
    EXPECT_TRUE(allowed("2001:0:808:808::f7f7:fbfb", "2001::/32"));
    EXPECT_FALSE(allowed("2001:0:808:808::f5ff:fffe", "2001::/32"));
    EXPECT_FALSE(allowed("::ffff:10.0.0.1", "::/0"));
    EXPECT_FALSE(allowed("64:ff9b::10.0.0.1", "::/0"));
}

TEST(address_policy, the_operators_blocks_allow_what_they_hold_and_no_more) {
    EXPECT_FALSE(allowed("10.1.255.255", "10.2.0.0/16"));
    EXPECT_TRUE(allowed("10.2.0.0", "10.2.0.0/16"));
    EXPECT_TRUE(allowed("10.2.255.255", "10.2.0.0/16"));
    EXPECT_FALSE(allowed("10.3.0.0", "10.2.0.0/16"));
    EXPECT_TRUE(allowed("127.0.0.1", "10.0.0.0/8,127.0.0.1"));
    EXPECT_FALSE(allowed("127.0.0.2", "10.0.0.0/8,127.0.0.1"));
    EXPECT_TRUE(allowed("fd00::1", "fd00::/9"));
    EXPECT_FALSE(allowed("fd80::", "fd00::/9"));
    EXPECT_TRUE(allowed("::1", "::1/128"));
    EXPECT_TRUE(allowed("255.255.255.255", "0.0.0.0/0"));
    EXPECT_FALSE(allowed("fe80::1", "0.0.0.0/0"));
}

TEST(address_policy, one_refused_address_of_a_name_refuses_the_name) {
    const address_policy policy;
    EXPECT_TRUE(policy.judge_all(std::vector{address("8.8.8.8"), address("2001:4860:4860::8888")}).allowed);
    const auto mixed = policy.judge_all(std::vector{address("8.8.8.8"), address("10.0.0.1")});
    EXPECT_FALSE(mixed.allowed);
    EXPECT_EQ(mixed.reason,
              "10.0.0.1 is not allowed: a private address; the operator can allow it with --allow-addresses");
    EXPECT_FALSE(policy.judge_all({}).allowed);
}

TEST(address_policy, a_block_that_would_not_mean_what_it_says_is_refused) {
    for (const char* wrong : {"10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "10.0.0/8",
                              "x", "", "010.0.0.0/8", "fe80::1%1/64", "10.0.0.1/8", "fd00::1/8",
                              "::ffff:10.0.0.0/104", "64:ff9b::a00:0/104"}) {
        const auto block = parse_address_block(wrong);
        ASSERT_FALSE(block) << wrong;
        EXPECT_NE(block.error().message.find(std::string("'") + wrong + "'"), std::string::npos);
    }
    EXPECT_FALSE(address_policy::parse("10.0.0.0/8,,127.0.0.1"));
    EXPECT_FALSE(address_policy::parse("10.0.0.0/8, 127.0.0.1")) << "no spaces";
    EXPECT_TRUE(parse_address_block("10.0.0.1/8").has_error());
    EXPECT_NE(parse_address_block("10.0.0.1/8").error().message.find("10.0.0.0/8"), std::string::npos);
}

TEST(ip_address, only_the_plain_forms_are_addresses) {
    for (const char* wrong : {"", "1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "0x1.2.3.4", "1.2.3.256", " 1.2.3.4",
                              "1.2.3.4 ", ":", ":::", "1::2::3", "fe80::1%eth0", "[::1]", "::1/128"}) {
        EXPECT_FALSE(ip_address::parse(wrong)) << wrong;
    }
    EXPECT_FALSE(ip_address::parse(std::string_view("1.2.3.4\0x", 9)));
    EXPECT_EQ(address("2001:DB8:0:0::1").text(), "2001:db8::1");
    EXPECT_EQ(address("203.0.113.9").text(), "203.0.113.9");
}

}  // namespace
}  // namespace herald::test
