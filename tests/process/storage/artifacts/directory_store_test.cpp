// Protects the store of artifacts in a folder: what it says is stored is there, whole and under its digest;
// of what failed nothing is left; and bytes that have changed on the disk are never given out as good.
#include "storage/artifacts/directory_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <csignal>
#include <fstream>
#include <future>
#include <optional>

#include "runtime/crypto.hpp"
#include "storage/artifacts/limits.hpp"
#include "tests/support/folder.hpp"

namespace herald::test {
namespace {

namespace files = std::filesystem;
using namespace storage::artifacts;
using runtime::http::body_stream;
using testing::HasSubstr;

/// Pieces as given; then the end, or an error.
class told_stream final : public body_stream {
  public:
    explicit told_stream(std::vector<std::string> pieces, std::optional<error> failure = {})
        : x_pieces(std::move(pieces)), x_failure(std::move(failure)) {}
    boost::asio::awaitable<result<std::string_view>> next() override {
        if (x_next < x_pieces.size()) co_return std::string_view(x_pieces[x_next++]);
        if (x_failure) co_return *x_failure;
        co_return std::string_view();
    }

  private:
    const std::vector<std::string> x_pieces;
    const std::optional<error> x_failure;
    std::size_t x_next = 0;
};

boost::asio::awaitable<result<std::string>> read_all(body_stream& stream) {
    std::string all;
    while (true) {
        const auto piece = co_await stream.next();
        if (!piece) co_return piece.error();
        if (piece->empty()) break;
        all += *piece;
    }
    co_return all;
}

boost::asio::awaitable<result<std::string>> read_range(artifact_store& store,
                                                       std::vector<stored_object> objects, byte_range range) {
    const auto stream = co_await read_joined(store, std::move(objects), range);
    if (!stream) co_return stream.error();
    co_return co_await read_all(**stream);
}

class directory_store : public testing::Test {
  protected:
    directory_store() { std::signal(SIGPIPE, SIG_IGN); }
    temporary_folder folder;
    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 2}};
    std::unique_ptr<artifact_store> store = opened();

    std::unique_ptr<artifact_store> opened() {
        auto made = open_directory_store(folder / "artifacts", {loops.blocking(), loops.blocking()},
                                         runtime::system_random());
        EXPECT_TRUE(made) << made.error().message;
        return made ? *std::move(made) : nullptr;
    }
    template <class T>
    T wait(boost::asio::awaitable<T> work) {
        std::promise<T> done;
        boost::asio::co_spawn(loops[0].context(), std::move(work), [&](std::exception_ptr thrown, T value) {
            if (thrown)
                done.set_exception(thrown);
            else
                done.set_value(std::move(value));
        });
        return done.get_future().get();
    }
    result<stored_object> put(std::vector<std::string> pieces, std::uint64_t bytes_max = 1'000'000'000) {
        told_stream stream(std::move(pieces));
        return wait(store->put(stream, bytes_max));
    }
    result<std::string> get(const stored_object& object) { return get(object, {0, object.bytes}); }
    result<std::string> get(const stored_object& object, byte_range range) {
        return wait(read_range(*store, {object}, range));
    }
    files::path path_of(const stored_object& object) const {
        return folder / "artifacts" / "objects" / object.object.substr(0, 2) / object.object;
    }
    std::size_t temporary_files() const {
        std::size_t count = 0;
        for (const auto& each : files::recursive_directory_iterator(folder / "artifacts" / "temporary"))
            count += each.is_regular_file() && each.path().extension() != ".lock";
        return count;
    }
};

TEST_F(directory_store, gives_back_what_was_stored_under_its_digest) {
    const std::string large(3 * limits::artifact_buffer_bytes + 17, 'x');
    for (const std::vector<std::string>& pieces :
         {std::vector<std::string>{"ab", "c"}, std::vector<std::string>{large, "end"},
          std::vector<std::string>{}}) {
        std::string all;
        for (const std::string& piece : pieces) all += piece;
        const auto stored = put(pieces);
        ASSERT_TRUE(stored) << stored.error().message;
        EXPECT_EQ(stored->bytes, all.size());
        EXPECT_EQ(stored->digest, runtime::as_bytes(runtime::sha256(all)));
        EXPECT_EQ(digest_of(stored->object), stored->digest);
        EXPECT_EQ(get(*stored).value(), all);
        EXPECT_TRUE(wait(store->has(stored->object)).value());
    }
    EXPECT_EQ(temporary_files(), 0u);
}

TEST_F(directory_store, what_was_compared_goes_from_the_disk_to_the_socket) {
    std::string all;
    for (std::size_t i = 0; all.size() < 3 * limits::artifact_buffer_bytes; ++i) all += std::to_string(i);
    const auto stored = put({all});
    const auto stream_of = [&](byte_range range) { return *wait(read_joined(*store, {*stored}, range)); };
    EXPECT_TRUE(stream_of({0, stored->bytes})->can_send_to_socket()) << "the upload compared it";
    store = opened();
    EXPECT_FALSE(stream_of({0, stored->bytes})->can_send_to_socket()) << "this process has not";
    EXPECT_EQ(get(*stored).value(), all);
    for (const byte_range range : {byte_range{0, stored->bytes}, byte_range{7, stored->bytes - 9}}) {
        int ends[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
        const auto stream = stream_of(range);
        std::string came, piece(64 * 1024, '\0');
        while (stream->can_send_to_socket()) {
            const auto sent = wait(stream->send_to(ends[0], range.bytes - came.size()));
            ASSERT_TRUE(sent) << sent.error().message;
            for (ssize_t got = 1; got > 0;) {
                got = ::read(ends[1], piece.data(), piece.size());
                if (got > 0) came += piece.substr(0, static_cast<std::size_t>(got));
            }
        }
        EXPECT_EQ(came, all.substr(range.offset, range.bytes));
        EXPECT_EQ(wait(stream->next()).value(), "");
        const auto again = stream_of(range);
        ::close(ends[1]);
        EXPECT_EQ(wait(again->send_to(ends[0], 1)).error().code, error_code::aborted);
        ::close(ends[0]);
    }
    const auto cut = stream_of({0, stored->bytes});
    files::resize_file(path_of(*stored), 0);
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    EXPECT_EQ(wait(cut->send_to(ends[0], 10)).error().code, error_code::internal);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_F(directory_store, an_upload_ends_before_it_takes_what_must_stay_free) {
    const auto kept_by = [&](const files::path& guarded) {
        return open_directory_store(folder / "artifacts", {loops.blocking(), loops.blocking()},
                                    runtime::system_random(), {guarded, 1ull << 62});
    };
    store = *kept_by(folder / "artifacts");
    const auto refused = put(std::vector(20, std::string(limits::artifact_buffer_bytes, 'x')));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("is full"));
    EXPECT_EQ(temporary_files(), 0u);
    EXPECT_THAT(wait(store->list("")).value(), testing::IsEmpty());
    store = *kept_by("/proc");
    EXPECT_TRUE(put({"bytes"})) << "what must stay free is on another disk";
}

TEST_F(directory_store, the_same_bytes_twice_are_two_objects) {
    const auto first = put({"same"}), second = put({"same"});
    EXPECT_EQ(first->digest, second->digest);
    EXPECT_NE(first->object, second->object);
    EXPECT_TRUE(wait(store->erase(first->object)));
    EXPECT_TRUE(wait(store->erase(first->object))) << "one that is not there";
    EXPECT_FALSE(wait(store->has(first->object)).value());
    EXPECT_EQ(get(*second).value(), "same");
    EXPECT_EQ(get(*first).error().code, error_code::internal);
}

TEST_F(directory_store, leaves_nothing_of_a_stream_that_fails_or_is_too_long) {
    told_stream broken({"some", std::string(limits::artifact_buffer_bytes, 'x')},
                       runtime::unavailable("the client left"));
    EXPECT_EQ(wait(store->put(broken, 1'000'000'000)).error().message, "the client left");
    const auto too_long = put({"abc", std::string(limits::artifact_buffer_bytes, 'x'), "d"}, 1'000);
    EXPECT_EQ(runtime::http_status(too_long.error()), 413);
    EXPECT_THAT(too_long.error().message, HasSubstr("1000"));
    EXPECT_EQ(temporary_files(), 0u);
    EXPECT_TRUE(wait(store->list("")).value().empty());
}

TEST_F(directory_store, reads_ranges_also_across_objects) {
    const std::vector<stored_object> objects{put({"0123456789"}).value(), put({}).value(),
                                             put({"abc"}).value(), put({"XYZ"}).value()};
    const std::string all = "0123456789abcXYZ";
    for (std::uint64_t first = 0; first < all.size(); ++first)
        for (std::uint64_t count = 1; count <= all.size() - first; ++count)
            EXPECT_EQ(wait(read_range(*store, objects, {first, count})).value(), all.substr(first, count));
}

TEST_F(directory_store, what_changed_on_the_disk_is_never_given_out_to_its_end) {
    for (const bool is_range : {false, true}) {
        const auto stored = put({std::string(2 * limits::artifact_buffer_bytes, 'x'), "end"}).value();
        std::fstream file(path_of(stored), std::ios::in | std::ios::out);
        file.seekp(1'000);
        file.put('y');
        file.close();
        // As if later: the clock of files may stand still for some milliseconds.
        files::last_write_time(path_of(stored), files::file_time_type::clock::now() + std::chrono::hours(1));
        const byte_range range{is_range ? 5u : 0u, stored.bytes - (is_range ? 5u : 0u)};
        const auto got = get(stored, range);
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().code, error_code::internal);
        EXPECT_THAT(got.error().message, HasSubstr("no longer what was stored"));
    }
}

TEST_F(directory_store, an_object_of_another_length_is_refused_before_its_first_byte) {
    const auto stored = put({"some bytes"}).value();
    files::resize_file(path_of(stored), 3);
    EXPECT_THAT(get(stored).error().message, HasSubstr("3 bytes, and 10 were stored"));
}

TEST_F(directory_store, what_changes_after_it_was_compared_is_compared_again) {
    const auto stored = put({"some bytes"}).value();
    EXPECT_EQ(get(stored).value(), "some bytes");
    EXPECT_EQ(get(stored, {5, 5}).value(), "bytes");
    std::ofstream(path_of(stored)) << "SOME BYTES";
    files::last_write_time(path_of(stored), files::file_time_type::clock::now() + std::chrono::hours(1));
    EXPECT_FALSE(get(stored));
    EXPECT_FALSE(get(stored, {5, 5}));
}

TEST_F(directory_store, files_of_a_process_that_ended_are_removed_and_those_of_a_running_one_kept) {
    const files::path temporary = folder / "artifacts" / "temporary";
    files::create_directories(temporary / "dead");
    std::ofstream(temporary / "dead.lock") << "";
    std::ofstream(temporary / "dead" / "1") << "half";
    files::create_directories(temporary / "running");
    std::ofstream(temporary / "running" / "1") << "half";
    const int lock = ::open((temporary / "running.lock").c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(::flock(lock, LOCK_EX), 0);
    const auto second = opened();
    EXPECT_FALSE(files::exists(temporary / "dead"));
    EXPECT_FALSE(files::exists(temporary / "dead.lock"));
    EXPECT_TRUE(files::exists(temporary / "running" / "1"));
    ::close(lock);
    EXPECT_TRUE(put({"still works"})) << "the first store's folder was left alone";
}

TEST_F(directory_store, lists_every_object_once_in_the_order_of_names) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < limits::listed_objects_max + 50; ++i)
        names.push_back(put({std::to_string(i)})->object);
    std::sort(names.begin(), names.end());
    std::vector<std::string> listed;
    while (true) {
        const auto some = wait(store->list(listed.empty() ? "" : listed.back())).value();
        if (some.empty()) break;
        EXPECT_LE(some.size(), limits::listed_objects_max);
        for (const listed_object& each : some) {
            EXPECT_EQ(digest_of(each.object), each.digest);
            EXPECT_NEAR(static_cast<double>(each.stored_ms),
                        static_cast<double>(runtime::system_clock().wall_ms()), 60'000);
            listed.push_back(each.object);
        }
    }
    EXPECT_EQ(listed, names);
}

TEST_F(directory_store, says_whose_bytes_it_has_also_to_the_next_process) {
    EXPECT_EQ(wait(store->owner()).value(), std::nullopt);
    const store_owner first{"a log", 1}, second{"another log", 2};
    ASSERT_TRUE(wait(store->set_owner(first)));
    EXPECT_EQ(wait(opened()->owner()).value(), first);
    ASSERT_TRUE(wait(store->set_owner(second)));
    EXPECT_EQ(wait(store->owner()).value(), second);
    EXPECT_EQ(temporary_files(), 0u);
    std::ofstream(folder / "artifacts" / "owner") << "something else";
    EXPECT_FALSE(wait(store->owner()));
}

TEST_F(directory_store, a_lost_object_is_an_error_that_names_no_folder) {
    const auto stored = put({"some bytes"}).value();
    files::remove(path_of(stored));
    for (const byte_range& range : {byte_range{0, 10}, byte_range{2, 3}}) {
        const auto got = get(stored, range);
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().code, error_code::internal);
        EXPECT_THAT(got.error().message, HasSubstr("lost or damaged"));
        EXPECT_THAT(got.error().message, testing::Not(HasSubstr(folder / "artifacts")));
    }
}

TEST_F(directory_store, pieces_are_small) {
    const auto stored = put({std::string(1'000'000, 'x')}).value();
    const auto largest = [](artifact_store& of, stored_object object) -> boost::asio::awaitable<std::size_t> {
        const auto stream = co_await of.read(object, {0, object.bytes});
        std::size_t most = 0;
        while (true) {
            const auto piece = co_await (*stream)->next();
            if (!piece || piece->empty()) break;
            most = std::max(most, piece->size());
        }
        co_return most;
    };
    EXPECT_EQ(wait(largest(*store, stored)), limits::artifact_piece_bytes);
}

TEST_F(directory_store, a_folder_that_cannot_be_used_is_refused) {
    std::ofstream(folder / "file") << "";
    const auto refused =
        open_directory_store(folder / "file", {loops.blocking(), loops.blocking()}, runtime::system_random());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr((folder / "file").native()));
}

}  // namespace
}  // namespace herald::test
