#include "composition.hpp"

#include <iostream>

#include "events/kafka/kafka_log.hpp"
#include "runtime/crypto.hpp"

namespace herald {

process_end failed(const error& why) {
    std::cerr << "herald: " << why.message << "\n";
    return why.code == error_code::failed_precondition ? process_end::mismatch : process_end::failure;
}

storage::genesis_options genesis_options_of(const settings& chosen) {
    storage::genesis_options options;
    options.organization_name = chosen.organization;
    options.admin_email = chosen.admin_email;
    options.admin_key =
        chosen.admin_key.empty() ? runtime::to_hex(runtime::system_random().bytes(32)) : chosen.admin_key;
    options.require_approval_for = chosen.require_approval_for;
    return options;
}

result<std::unique_ptr<events::log>> open_kafka(const settings& chosen) {
    events::kafka::kafka_options options;
    options.bootstrap_servers = chosen.kafka;
    options.topic_prefix = chosen.topic_prefix;
    options.properties = chosen.kafka_options;
    return events::kafka::make_kafka_log(std::move(options));
}

}  // namespace herald
