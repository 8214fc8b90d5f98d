// SPDX-License-Identifier: Apache-2.0
// Preloaded into a benchmark: every fsync(2) and fdatasync(2) takes ASSAY_FSYNC_DELAY_US microseconds more, as on a
// disk without a write cache.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void delay(void)
{
    const char* text = getenv("ASSAY_FSYNC_DELAY_US");
    if (text != NULL)
        usleep((useconds_t)atoi(text));
}

static int call(const char* name, int fd)
{
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    delay();
    return next(fd);
}

int fsync(int fd) { return call("fsync", fd); }
int fdatasync(int fd) { return call("fdatasync", fd); }
