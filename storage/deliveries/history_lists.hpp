// Lists, counts and groups of deliveries, from the indexes of the history.
#pragma once

#include "storage/deliveries/delivery_history.hpp"
#include "storage/deliveries/history_database.hpp"

namespace herald::storage::deliveries {

std::optional<schemas::delivery_row> read_row(const open_history&, std::string_view id_key);

delivery_page list_deliveries(const open_history&, const delivery_question&);
delivery_histogram count_deliveries(const open_history&, const histogram_question&);
dead_groups group_dead(const open_history&, schemas::workspace_id, const delivery_judge& may_see);
std::vector<schemas::delivery_row> rows_of_event(const open_history&, std::string_view event_id);
webhook_record record_of_webhook(const open_history&, schemas::workspace_id, schemas::webhook_id,
                                 std::int64_t now_ms);

}  // namespace herald::storage::deliveries
