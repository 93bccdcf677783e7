#include "storage/artifacts/s3_answers.hpp"

#include <array>
#include <chrono>

#include "runtime/text.hpp"

namespace herald::storage::artifacts {
namespace {

struct element {
    std::string_view inside;
    std::string_view rest;  // behind it
};

/// The first element of that name. Those that count here have no attributes, but for the outermost.
std::optional<element> element_in(std::string_view xml, std::string_view name) {
    const std::string opening = "<" + std::string(name);
    const std::string closing = "</" + std::string(name) + ">";
    for (std::size_t at = xml.find(opening); at != std::string_view::npos; at = xml.find(opening, at + 1)) {
        const std::string_view behind = xml.substr(at + opening.size());
        if (behind.starts_with("/>")) return element{{}, behind.substr(2)};
        if (!behind.starts_with('>') && !behind.starts_with(' ')) continue;  // a longer name
        const std::size_t start = behind.find('>');
        const std::size_t end = behind.find(closing);
        if (start == std::string_view::npos || end == std::string_view::npos || end < start)
            return std::nullopt;
        return element{behind.substr(start + 1, end - start - 1), behind.substr(end + closing.size())};
    }
    return std::nullopt;
}

/// The character of an entity: "amp", "#34", "#x22"; 0 for another.
char meant_by(std::string_view entity) {
    static constexpr std::array<std::pair<std::string_view, char>, 5> named{
        {{"quot", '"'}, {"apos", '\''}, {"lt", '<'}, {"gt", '>'}, {"amp", '&'}}};
    for (const auto& [name, character] : named)
        if (entity == name) return character;
    std::uint64_t number = 0;
    if (entity.starts_with("#x")) {
        for (const char c : entity.substr(2)) {
            const int digit = runtime::hex_digit(c);
            if (digit < 0 || number > 0x7F) return 0;
            number = number * 16 + static_cast<unsigned>(digit);
        }
    } else if (entity.starts_with('#')) {
        number = runtime::parse_decimal(entity.substr(1)).value_or(0);
    }
    return number > 0 && number <= 0x7F ? static_cast<char>(number) : '\0';
}

std::string without_entities(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = text.front() == '&' ? text.find(';') : std::string_view::npos;
        const char meant = end == std::string_view::npos ? '\0' : meant_by(text.substr(1, end - 1));
        out += meant == '\0' ? text.front() : meant;
        text.remove_prefix(meant == '\0' ? 1 : end + 1);
    }
    return out;
}

std::string with_entities(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

}  // namespace

std::optional<std::string> xml_text(std::string_view xml, std::string_view name) {
    const auto found = element_in(xml, name);
    if (!found) return std::nullopt;
    return without_entities(found->inside);
}

std::optional<s3_failure> failure_in(std::string_view xml) {
    const auto error = element_in(xml, "Error");
    if (!error) return std::nullopt;
    return s3_failure{xml_text(error->inside, "Code").value_or(""),
                      xml_text(error->inside, "Message").value_or("")};
}

std::optional<s3_keys> keys_in(std::string_view xml) {
    const auto all = element_in(xml, "ListBucketResult");
    if (!all) return std::nullopt;
    s3_keys out;
    out.is_truncated = xml_text(all->inside, "IsTruncated") == "true";
    std::string_view rest = all->inside;
    while (const auto each = element_in(rest, "Contents")) {
        rest = each->rest;
        auto key = xml_text(each->inside, "Key");
        const auto modified = xml_time_ms(xml_text(each->inside, "LastModified").value_or(""));
        if (!key || !modified) return std::nullopt;
        out.keys.push_back({*std::move(key), *modified});
    }
    return out;
}

std::optional<std::vector<unfinished_upload>> uploads_in(std::string_view xml) {
    const auto all = element_in(xml, "ListMultipartUploadsResult");
    if (!all) return std::nullopt;
    std::vector<unfinished_upload> out;
    std::string_view rest = all->inside;
    while (const auto each = element_in(rest, "Upload")) {
        rest = each->rest;
        auto key = xml_text(each->inside, "Key");
        auto id = xml_text(each->inside, "UploadId");
        const auto begun = xml_time_ms(xml_text(each->inside, "Initiated").value_or(""));
        if (!key || !id || !begun) return std::nullopt;
        out.push_back({*std::move(key), *std::move(id), *begun});
    }
    return out;
}

std::optional<std::int64_t> xml_time_ms(std::string_view text) {
    constexpr std::string_view form = "0000-00-00T00:00:00";
    if (text.size() <= form.size() || !text.ends_with('Z')) return std::nullopt;
    for (std::size_t i = 0; i < form.size(); ++i) {
        const bool is_digit = text[i] >= '0' && text[i] <= '9';
        if (form[i] == '0' ? !is_digit : text[i] != form[i]) return std::nullopt;
    }
    const auto number = [&](std::size_t at, std::size_t count) {
        return runtime::parse_decimal(text.substr(at, count)).value_or(0);
    };
    using namespace std::chrono;
    const year_month_day date{year(static_cast<int>(number(0, 4))),
                              month(static_cast<unsigned>(number(5, 2))),
                              day(static_cast<unsigned>(number(8, 2)))};
    if (!date.ok() || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 60) return std::nullopt;
    const auto seconds_of_day = number(11, 2) * 3'600 + number(14, 2) * 60 + number(17, 2);
    return duration_cast<milliseconds>(sys_days(date).time_since_epoch()).count() +
           static_cast<std::int64_t>(seconds_of_day) * 1'000;
}

std::string completion_of(const std::vector<std::string>& etags) {
    std::string xml = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (std::size_t i = 0; i < etags.size(); ++i)
        xml += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" +
               with_entities(etags[i]) + "</ETag></Part>";
    return xml + "</CompleteMultipartUpload>";
}

}  // namespace herald::storage::artifacts
