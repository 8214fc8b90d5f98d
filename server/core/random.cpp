// SPDX-License-Identifier: Apache-2.0
#include "server/core/random.h"

#include <cerrno>
#include <cstdlib>
#include <sys/random.h>

namespace assay {

std::string randomBytes(std::size_t count)
{
    std::string out(count, '\0');
    std::size_t done = 0;
    while (done < count) {
        const ssize_t got = ::getrandom(out.data() + done, count - done, 0);
        if (got > 0)
            done += static_cast<std::size_t>(got);
        else if (errno != EINTR)
            std::abort();
    }
    return out;
}

} // namespace assay
