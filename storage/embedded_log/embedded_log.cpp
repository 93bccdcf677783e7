// The producers, readers and members of the embedded log. Everything that they share is in the committer.
#include "storage/embedded_log/embedded_log.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "events/log/limits.hpp"
#include "runtime/assert.hpp"
#include "storage/embedded_log/log_committer.hpp"

namespace herald::storage::embedded_log {
namespace {

using events::log::topic_partition;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

using committer_pointer = std::shared_ptr<log_committer>;

class embedded_producer final : public events::log::producer {
  public:
    embedded_producer(committer_pointer committer, events::log::producer_kind kind)
        : x_committer(std::move(committer)), x_account(std::make_shared<producer_account>(kind)) {}
    ~embedded_producer() override { x_committer->close(x_account); }

    result<void> append(const topic_partition& where, std::string key, std::optional<std::string> value,
                        events::log::append_handler handler) override {
        return x_committer->append(x_account, where, std::move(key), std::move(value), std::move(handler));
    }

  private:
    const committer_pointer x_committer;
    const account_pointer x_account;
};

class embedded_reader final : public events::log::reader {
  public:
    embedded_reader(committer_pointer committer, topic_partition where, std::int64_t from_offset)
        : x_committer(std::move(committer)),
          x_where(std::move(where)),
          x_next(from_offset),
          x_partition(x_committer->find(x_where)) {
        if (x_partition != nullptr) x_committer->hang(*x_partition, x_bell);
    }
    ~embedded_reader() override { x_bell->silence(); }

    void on_ready(std::function<void()> notify) override { x_bell->call(std::move(notify)); }

    result<events::log::read_batch> poll(std::size_t records_max, std::int64_t wait_ms) override {
        if (x_partition == nullptr)
            return runtime::failed_precondition({"there is no ", x_where.topic, "/", x_where.partition});
        const auto deadline = steady_clock::now() + milliseconds(wait_ms);
        while (!x_failure) {
            x_bell->reset();
            result<events::log::read_batch> batch = x_committer->read(*x_partition, x_next, records_max);
            if (!batch && batch.error().code == error_code::failed_precondition) x_failure = batch.error();
            if (!batch) return batch;
            if (!batch->records.empty()) x_next = batch->records.back().offset + 1;
            if (!batch->at_end) x_bell->ring_again();
            if (!batch->records.empty() || steady_clock::now() >= deadline) return batch;
            x_bell->wait_until(deadline);
        }
        return *x_failure;
    }

  private:
    const committer_pointer x_committer;
    const topic_partition x_where;
    std::int64_t x_next;
    log_partition* const x_partition;
    const std::shared_ptr<events::log::bell> x_bell = std::make_shared<events::log::bell>();
    std::optional<error> x_failure;
};

class embedded_member final : public events::log::group_member {
  public:
    embedded_member(committer_pointer committer, std::string group, std::vector<std::string> topics)
        : x_committer(std::move(committer)), x_group(std::move(group)), x_topics(std::move(topics)) {
        x_committer->join(x_group, x_bell);
    }
    ~embedded_member() override {
        x_bell->silence();
        x_committer->leave(x_group, x_bell);
    }

    void on_ready(std::function<void()> notify) override { x_bell->call(std::move(notify)); }

    std::vector<events::log::member_event> poll(std::size_t events_max, std::int64_t wait_ms) override {
        std::vector<events::log::member_event> found;
        const auto deadline = steady_clock::now() + milliseconds(wait_ms);
        while (true) {
            x_bell->reset();
            if (!x_has_failed && x_committer->owns(x_group, x_bell)) {
                if (!std::exchange(x_has_joined, true)) take_over();
                if (x_to_tell.empty() && read(found, events_max)) x_bell->ring_again();
            }
            if (!x_to_tell.empty()) x_bell->ring_again();
            for (; !x_to_tell.empty() && found.size() < events_max; x_to_tell.pop_front())
                found.push_back(std::move(x_to_tell.front()));
            if (!found.empty() || steady_clock::now() >= deadline) return found;
            x_bell->wait_until(deadline);
        }
    }

    void pause(const topic_partition& where) override { set_paused(where, true); }
    void resume(const topic_partition& where) override { set_paused(where, false); }

    void commit(const topic_partition& where, std::uint64_t epoch, std::int64_t next_offset,
                std::string metadata) override {
        HERALD_ASSERT(metadata.size() <= limits::commit_metadata_bytes_max);
        const auto found = std::find_if(x_places.begin(), x_places.end(), [&](const reading_place& each) {
            return each.partition->where == where;
        });
        if (found == x_places.end() || found->epoch != epoch || x_has_failed) return;
        x_committer->commit({x_group, where}, {next_offset, std::move(metadata)});
    }

    /// Nothing is ever recalled: there is one member.
    void release(const topic_partition&, std::uint64_t) override {}

  private:
    struct reading_place {
        log_partition* partition;
        std::uint64_t epoch = 0;
        std::int64_t next = 0;
        bool is_paused = false;
    };

    void fail(error reason) {
        x_has_failed = true;
        x_to_tell.assign(1, events::log::member_failure{std::move(reason)});
        x_committer->leave(x_group, x_bell);
    }

    /// Assigns every partition to this member.
    void take_over() {
        for (const std::string& topic : x_topics) {
            const result<std::int32_t> count = x_committer->partitions(topic);
            if (!count) return fail(runtime::failed_precondition(count.error().message));
            for (std::int32_t partition = 0; partition < *count; ++partition) {
                const topic_partition where{topic, partition};
                const std::optional<stored_commit> commit = x_committer->committed({x_group, where});
                if (!commit)
                    return fail(runtime::failed_precondition(
                        {"group ", x_group, " has no committed offset for ", topic, "/", partition,
                         "; creating the topics commits the first"}));
                const std::uint64_t epoch = x_committer->next_epoch();
                x_places.push_back({x_committer->find(where), epoch, commit->next_offset});
                x_committer->hang(*x_places.back().partition, x_bell);
                x_to_tell.emplace_back(
                    events::log::assigned{where, commit->next_offset, commit->metadata, epoch});
            }
        }
    }

    /// Takes a share from each partition in turn, so that none waits for another's backlog. True when it
    /// stopped because there was enough.
    bool read(std::vector<events::log::member_event>& found, std::size_t events_max) {
        const std::size_t share = std::max<std::size_t>(1, events_max / (x_places.size() + 1));
        std::size_t bytes = 0;
        const auto is_full = [&] {
            return found.size() >= events_max || bytes >= limits::member_poll_bytes_max;
        };
        bool has_more = true;
        while (has_more && !is_full()) {
            has_more = false;
            for (std::size_t i = 0; i < x_places.size() && !is_full(); ++i) {
                reading_place& place = x_places[x_turn++ % x_places.size()];
                if (place.is_paused) continue;
                result<events::log::read_batch> batch = x_committer->read(
                    *place.partition, place.next, std::min(share, events_max - found.size()));
                if (!batch && batch.error().code == error_code::unavailable) continue;
                if (!batch) {
                    fail(runtime::failed_precondition({"group ", x_group, ": ", batch.error().message}));
                    return false;
                }
                has_more = has_more || !batch->at_end;
                for (events::log::record& each : batch->records) {
                    if (is_full()) break;
                    place.next = each.offset + 1;
                    bytes += events::log::bytes_of(each);
                    found.emplace_back(
                        events::log::consumed{place.partition->where, place.epoch, std::move(each)});
                }
            }
        }
        return is_full();
    }

    void set_paused(const topic_partition& where, bool whether) {
        for (reading_place& each : x_places)
            if (each.partition->where == where) each.is_paused = whether;
        if (!whether) x_bell->ring_again();
    }

    const committer_pointer x_committer;
    const std::string x_group;
    const std::vector<std::string> x_topics;
    const std::shared_ptr<events::log::bell> x_bell = std::make_shared<events::log::bell>();
    bool x_has_joined = false;
    bool x_has_failed = false;
    std::deque<events::log::member_event> x_to_tell;
    std::vector<reading_place> x_places;
    std::size_t x_turn = 0;
};

class rocks_embedded_log final : public embedded_log {
  public:
    explicit rocks_embedded_log(committer_pointer committer) : x_committer(std::move(committer)) {}
    ~rocks_embedded_log() override { x_committer->stop(); }

    std::unique_ptr<events::log::producer> open_producer(events::log::producer_kind kind) override {
        return std::make_unique<embedded_producer>(x_committer, kind);
    }
    result<void> takes_appends() const override { return x_committer->takes_appends(); }
    std::optional<std::int64_t> time_ms() const override { return x_committer->time_ms(); }
    std::unique_ptr<events::log::reader> open_reader(const topic_partition& where,
                                                     std::int64_t from_offset) override {
        return std::make_unique<embedded_reader>(x_committer, where, from_offset);
    }
    std::unique_ptr<events::log::group_member> join(const std::string& group,
                                                    const std::vector<std::string>& topics) override {
        return std::make_unique<embedded_member>(x_committer, group, topics);
    }
    void query_range(const topic_partition& where, events::log::range_handler handler) override {
        x_committer->query_range(where, std::move(handler));
    }
    result<std::int32_t> partitions(const std::string& topic) override {
        return x_committer->partitions(topic);
    }
    result<std::vector<std::int64_t>> committed(const std::string& topic) override {
        return x_committer->committed_of(topic);
    }
    result<void> create_topics() override { return x_committer->create_topics(); }
    void maintain() override { x_committer->maintain(log_committer::maintenance::all); }

  private:
    const committer_pointer x_committer;
};

}  // namespace

result<std::unique_ptr<embedded_log>> make_embedded_log(const std::filesystem::path& folder,
                                                        const embedded_log_options& options,
                                                        const runtime::clock& clock) {
    auto committer = std::make_shared<log_committer>(folder, options, clock);
    const result<void> started = committer->start();
    if (!started) return started.error();
    return std::unique_ptr<embedded_log>(std::make_unique<rocks_embedded_log>(std::move(committer)));
}

}  // namespace herald::storage::embedded_log
