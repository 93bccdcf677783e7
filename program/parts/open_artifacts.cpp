#include "program/parts/open_artifacts.hpp"

#include "runtime/clock.hpp"
#include "runtime/random.hpp"
#include "storage/artifacts/s3_store.hpp"

namespace herald::program {

result<std::unique_ptr<storage::artifacts::artifact_store>> open_artifacts(
    const settings& chosen, storage::artifacts::store_pools pools) {
    if (!are_in_a_bucket(chosen))
        return storage::artifacts::open_directory_store(artifacts_folder(chosen), pools,
                                                        runtime::system_random(),
                                                        {folder_of(chosen), chosen.free_disk_bytes_min});
    storage::artifacts::s3_options bucket = chosen.artifacts_bucket;
    bucket.client.extra_ca_file = chosen.transport.extra_ca_file;
    bucket.client.dns = chosen.transport.dns;
    return storage::artifacts::open_s3_store(bucket, pools.writing, runtime::system_random(),
                                             runtime::system_clock());
}

}  // namespace herald::program
