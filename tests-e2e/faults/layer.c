/* Intercepts disk and clock calls of a process by LD_PRELOAD.
 *
 * Power loss. FAULT_SHADOW has the durable content of every file in FAULT_DIR: what was synced, and
 * what was written through a descriptor with O_SYNC or O_DSYNC. A file is stored under its inode
 * number; the names in a directory are recorded when the directory is synced. After a kill, a data
 * directory restored from the shadow alone is what a power cut would have left.
 *
 * Errors. FAULT_FAIL is "call:number:errno", such as "pwrite:3:5": once the file FAULT_ARMED exists,
 * the call with this number on a file in FAULT_DIR fails.
 *
 * Clock. FAULT_CLOCK names a file with a number of seconds by which the wall clock is wrong.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define COPY_BYTES 65536

static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Whether a descriptor is of something in FAULT_DIR. */
static int is_watched(int fd) {
    const char *dir = setting("FAULT_DIR");
    char link[64], path[PATH_BYTES];
    if (!dir) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    size_t prefix = strlen(dir);
    return strncmp(path, dir, prefix) == 0 && (path[prefix] == '/' || path[prefix] == 0);
}

/* Whether this call is the one that fails; errno says how. */
static int fails(const char *call) {
    static atomic_int seen;
    const char *wanted = setting("FAULT_FAIL"), *armed = setting("FAULT_ARMED");
    if (!wanted || !armed || access(armed, F_OK) != 0) return 0;
    char name[32];
    int number, error;
    if (sscanf(wanted, "%31[^:]:%d:%d", name, &number, &error) != 3) return 0;
    if (strcmp(name, call) != 0 || atomic_fetch_add(&seen, 1) + 1 != number) return 0;
    errno = error;
    return 1;
}

static int shadow_of(int fd, int flags) {
    const char *shadow = setting("FAULT_SHADOW");
    struct stat found;
    char path[PATH_BYTES];
    if (!shadow || fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) return -1;
    snprintf(path, sizeof path, "%s/%llu", shadow, (unsigned long long)found.st_ino);
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | flags, 0600);
}

static void put(int to, const void *bytes, size_t count, off_t at) {
    for (size_t done = 0; done < count;) {
        ssize_t put = syscall(SYS_pwrite64, to, (const char *)bytes + done, count - done, at + (off_t)done);
        if (put <= 0) abort();
        done += (size_t)put;
    }
}

/* The file is on disk as it is now. In place: whoever dies here leaves what was there before. */
static void keep_file(int fd) {
    static _Thread_local char bytes[COPY_BYTES];
    int to = shadow_of(fd, O_CREAT);
    struct stat found;
    char link[64];
    if (to < 0) return;
    /* The descriptor may be for writing only, or want aligned buffers. */
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int from = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY, 0);
    if (from < 0 || fstat(from, &found) != 0) abort();
    for (off_t at = 0; at < found.st_size;) {
        ssize_t got = syscall(SYS_pread64, from, bytes, sizeof bytes, at);
        if (got <= 0) break;
        put(to, bytes, (size_t)got, at);
        at += got;
    }
    syscall(SYS_ftruncate, to, found.st_size);
    syscall(SYS_close, from);
    syscall(SYS_close, to);
}

/* The names in a directory are on disk as they are now. */
static void keep_names(int fd) {
    const char *shadow = setting("FAULT_SHADOW");
    char path[PATH_BYTES], fresh[PATH_BYTES];
    if (!shadow) return;
    snprintf(path, sizeof path, "%s/names", shadow);
    snprintf(fresh, sizeof fresh, "%s/names.%d", shadow, (int)syscall(SYS_gettid));
    int copy = dup(fd);
    DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    FILE *names = fopen(fresh, "w");
    if (!directory || !names) abort();
    rewinddir(directory);
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_type == DT_REG)
            fprintf(names, "%llu %s\n", (unsigned long long)entry->d_ino, entry->d_name);
    fclose(names);
    closedir(directory);
    if (rename(fresh, path) != 0) abort();
}

static int synced(int fd, const char *call, long number) {
    if (!is_watched(fd)) return (int)syscall(number, fd);
    if (fails(call)) return -1;
    struct stat found;
    if (fstat(fd, &found) == 0 && setting("FAULT_SHADOW")) {
        if (S_ISDIR(found.st_mode)) keep_names(fd);
        else keep_file(fd);
    }
    return (int)syscall(number, fd);
}

static ssize_t written(int fd, const void *bytes, size_t count, off_t at) {
    ssize_t done = syscall(SYS_pwrite64, fd, bytes, count, at);
    int flags = (int)syscall(SYS_fcntl, fd, F_GETFL, 0);
    if (0 < done && flags != -1 && (flags & (O_DSYNC | O_SYNC))) {
        int to = shadow_of(fd, O_CREAT);
        if (0 <= to) {
            put(to, bytes, (size_t)done, at);
            syscall(SYS_close, to);
        }
    }
    return done;
}

int fsync(int fd) { return synced(fd, "sync", SYS_fsync); }
int fdatasync(int fd) { return synced(fd, "sync", SYS_fdatasync); }

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
    if (!is_watched(fd)) return syscall(SYS_pwrite64, fd, bytes, count, at);
    if (fails("pwrite")) return -1;
    return written(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at) { return pwrite(fd, bytes, count, at); }

ssize_t write(int fd, const void *bytes, size_t count) {
    if (is_watched(fd) && fails("write")) return -1;
    return syscall(SYS_write, fd, bytes, count);
}

int ftruncate(int fd, off_t size) {
    if (is_watched(fd) && fails("truncate")) return -1;
    return (int)syscall(SYS_ftruncate, fd, size);
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    int got = (int)syscall(SYS_clock_gettime, clock, now);
    const char *file = setting("FAULT_CLOCK");
    if (got != 0 || clock != CLOCK_REALTIME || !file) return got;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY, 0);
    char text[32] = {0};
    if (0 <= fd) {
        syscall(SYS_read, fd, text, sizeof text - 1);
        syscall(SYS_close, fd);
    }
    now->tv_sec += atoll(text);
    return 0;
}
