// What happened to a delivery, in words.
#include "schemas/answers/deliveries.hpp"

namespace herald::schemas::answers {
namespace {

delivery_words words_about_status(std::uint16_t status) {
    const std::string code = std::to_string(status);
    if (status >= 200 && status < 300) return {"The receiver took it.", "Nothing needs to be done."};
    if (status >= 300 && status < 400)
        return {"The receiver answered with a redirect (" + code + "), which is never followed.",
                "Give the URL that it leads to as new_location with updateWebhook."};
    if (status == 401 || status == 403)
        return {
            "The receiver refused it (" + code + ").",
            "It may check webhook-signature with another secret, or want credentials, and a delivery carries "
            "none but its signature. Compare the secrets, then send it again."};
    if (status == 404 || status == 405)
        return {"The receiver has nothing that takes a POST at this path (" + code + ").",
                "Check the location, correct it with updateWebhook, then send it again."};
    if (status == 410)
        return {"The receiver said that it is gone (410).",
                "A delivery that is answered so disables its webhook. Give a new location, enable the "
                "webhook, then "
                "replay what it missed."};
    if (status == 429 || status == 503)
        return {"The receiver is busy (" + code + ").",
                "Deliveries are sent again later, and not before its Retry-After."};
    if (status >= 500)
        return {"The receiver failed (" + code + ").",
                "Look into the receiver's own log for this webhook-id. Deliveries that are answered so are "
                "sent again "
                "later."};
    return {"The receiver answered " + code + ".",
            "Only an answer from 200 to 299 counts as taken. The answer's body often says why."};
}

}  // namespace

delivery_words words_about(delivery_error error, std::uint16_t status) {
    switch (error) {
        case delivery_error::none:
            if (status == 0) return {"No attempt was made.", ""};
            return words_about_status(status);
        case delivery_error::status:
            return words_about_status(status);
        case delivery_error::address_not_allowed:
            return {"The receiver's address is not allowed, so nothing was sent.",
                    "Use a public address, or ask the operator to start the worker with --allow-addresses."};
        case delivery_error::dns:
            return {"The receiver's name could not be resolved.",
                    "Check the host in the location and its DNS records."};
        case delivery_error::connect:
            return {"No connection to the receiver could be made.",
                    "Check that it runs, listens on this port, and that a firewall lets the worker through."};
        case delivery_error::tls:
            return {
                "The TLS handshake with the receiver failed.",
                "Check that its certificate is valid, names this host, and comes from a known authority."};
        case delivery_error::write:
            return {"The receiver closed the connection before it had the whole request.",
                    "Check the size of body that it or a proxy before it takes."};
        case delivery_error::timeout:
            return {"The receiver did not answer in time.",
                    "Answer first and work afterwards: a receiver should answer within seconds."};
        case delivery_error::protocol:
            return {"What the receiver answered is not a valid HTTP answer.",
                    "Check that the location leads to an HTTP server, and whether it is http or https."};
        case delivery_error::busy:
            return {"Too many tests of this webhook were waiting.", "Wait for their answers and test again."};
    }
    return {};
}

}  // namespace herald::schemas::answers
