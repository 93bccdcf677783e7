// Protects the decision about who may call what: for each row of the route table, every kind of caller and
// every kind of body gets the status that follows from the row.
#include <gtest/gtest.h>

#include "runtime/http/limits.hpp"
#include "tests/unit/api/route_world.hpp"

namespace herald::test {
namespace {

using api::calls::authentication;
using api::calls::route;

class callers : public route_world {
  protected:
    static std::string place(const route& row, std::string_view who) {
        return std::string(row.name) + " by " + std::string(who);
    }
};

TEST_F(callers, who_shows_nothing_or_something_wrong_is_401_but_where_anybody_may_ask) {
    const caller wrong_key{node.administrator.email, "wrong"};
    const caller nobody{"nobody@example.org", node.administrator.key};
    for (const caller* who : {static_cast<const caller*>(nullptr), &wrong_key, &nobody})
        for (const route& row : api::routes::all_routes()) {
            const int status = ask_sample(who, row).status();
            if (is_open(row))
                EXPECT_NE(status, 401) << row.name;
            else
                EXPECT_EQ(status, 401) << row.name;
        }
}

TEST_F(callers, a_stranger_finds_nothing_that_needs_a_right_and_may_not_what_administrators_may) {
    for (const route& row : api::routes::all_routes()) {
        if (is_open(row)) continue;
        const reply got = ask_sample(&stranger, row);
        if (row.who == authentication::system_administrator)
            EXPECT_EQ(got.status(), 403) << place(row, "a stranger") << ": " << got.body();
        else if (row.right)
            EXPECT_EQ(got.status(), 404) << place(row, "a stranger") << ": " << got.body();
        else
            EXPECT_NE(got.status(), 401) << place(row, "a stranger");
    }
}

TEST_F(callers, a_member_of_admins_may_all_but_what_system_administrators_may) {
    for (const route& row : api::routes::all_routes()) {
        if (is_open(row)) continue;
        const int status = ask_sample(&second, row).status();
        if (row.who == authentication::system_administrator)
            EXPECT_EQ(status, 403) << place(row, "a member of Admins");
        else
            EXPECT_EQ(status, 200) << place(row, "a member of Admins");
    }
}

TEST_F(callers, the_system_administrator_may_all) {
    for (const route& row : api::routes::all_routes())
        if (!is_open(row)) EXPECT_EQ(ask_sample(&node.administrator, row).status(), 200) << row.name;
}

/// The order of refusals (wire.md §1): the form is checked before existence and rights.
TEST_F(callers, a_body_of_the_wrong_form_is_400_to_all_who_have_a_key_and_one_too_large_413_to_anybody) {
    const std::string large(limits::management_body_bytes_max + 1, ' ');
    for (const route& row : api::routes::all_routes()) {
        if (!row.has_body()) continue;
        EXPECT_EQ(ask(nullptr, row, large).status(), 413) << place(row, "nobody");
        EXPECT_EQ(ask(nullptr, row, "[]").status(), 401) << place(row, "nobody");
        for (const caller* who :
             std::initializer_list<const caller*>{&stranger, &second, &node.administrator}) {
            EXPECT_EQ(ask(who, row, large).status(), 413) << place(row, who->email);
            EXPECT_EQ(ask(who, row, "[]").status(), 400) << place(row, who->email);
            EXPECT_EQ(ask(who, row, "{").status(), 400) << place(row, who->email);
            EXPECT_EQ(ask(who, row, R"({"no_such_member":1})", "", "Prefer: handling=strict\r\n").status(),
                      400)
                << place(row, who->email);
            if (row.needs_body) EXPECT_EQ(ask(who, row, "").status(), 400) << place(row, who->email);
        }
    }
}

TEST_F(callers, a_test_of_a_webhook_that_one_may_not_see_finds_none) {
    const std::string path = "/api/v1/uac-proxy/events/triggerTest";
    EXPECT_EQ(node.ask(&stranger, "POST", path, R"({"webhook_id":2})").status(), 404);
    EXPECT_EQ(node.ask(&stranger, "POST", path, "{}").status(), 400);
    EXPECT_EQ(node.ask(&second, "POST", path, R"({"webhook_id":2})").status(), 200);
}

}  // namespace
}  // namespace herald::test
