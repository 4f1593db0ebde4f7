/* Preloaded into a program, writes down each change that it makes to files below $ATTACK_DISK, in the order in which
 * they happen, into $ATTACK_JOURNAL; and fails some of them when the file $ATTACK_FAULT says so.
 *
 * A record is one line of JSON-free text, fields separated by tabs, then for writes the bytes:
 *   kind  inode  offset  length  path  other-path \n bytes
 * One write() to a file opened with O_APPEND keeps records of all threads and processes whole and in order.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int journal = -1;
static char disk[PATH_MAX], journal_path[PATH_MAX], passed_on[4][PATH_MAX + 32];
static const char *const NAMES[4] = {"LD_PRELOAD", "ATTACK_DISK", "ATTACK_JOURNAL", "ATTACK_FAULT"};
static size_t disk_length;
static const char *fault_path;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static void open_journal(void) {
  int opened = REAL(open)(journal_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  journal = fcntl(opened, F_DUPFD_CLOEXEC, 900);
  REAL(close)(opened);
}

__attribute__((constructor)) static void begin(void) {
  const char *root = getenv("ATTACK_DISK"), *path = getenv("ATTACK_JOURNAL");
  fault_path = getenv("ATTACK_FAULT");
  if (root == NULL || path == NULL || realpath(root, disk) == NULL) return;
  disk_length = strlen(disk);
  snprintf(journal_path, sizeof journal_path, "%s", path);
  for (int at = 0; at < 4; at++)
    if (getenv(NAMES[at])) snprintf(passed_on[at], sizeof passed_on[at], "%s=%s", NAMES[at], getenv(NAMES[at]));
  open_journal();
}

/* Programs that clean the environment of those that they start would not be followed any further. */
int execve(const char *path, char *const *arguments, char *const *variables) {
  size_t count = 0, kept = 0;
  while (variables != NULL && variables[count] != NULL) count++;
  char *all[count + 5];
  for (size_t at = 0; at < count; at++) {
    int is_ours = 0;
    for (int name = 0; name < 4 && journal >= 0; name++) {
      size_t length = strlen(NAMES[name]);
      is_ours |= strncmp(variables[at], NAMES[name], length) == 0 && variables[at][length] == '=';
    }
    if (!is_ours) all[kept++] = variables[at];
  }
  for (int name = 0; name < 4 && journal >= 0; name++)
    if (passed_on[name][0]) all[kept++] = passed_on[name];
  all[kept] = NULL;
  return REAL(execve)(path, arguments, all);
}

static int below(const char *path) {
  return journal >= 0 && strncmp(path, disk, disk_length) == 0 && (path[disk_length] == '/' || path[disk_length] == 0);
}

/* The real path of something, whose last part need not exist. */
static int locate(int folder, const char *path, char *found) {
  char full[PATH_MAX * 2], parent[PATH_MAX * 2];
  if (journal < 0 || path == NULL) return 0;
  if (path[0] == '/') {
    snprintf(full, sizeof full, "%s", path);
  } else if (folder == AT_FDCWD) {
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) == NULL) return 0;
    snprintf(full, sizeof full, "%s/%s", here, path);
  } else {
    char link[64], here[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, here, sizeof here - 1);
    if (length < 0) return 0;
    here[length] = 0;
    snprintf(full, sizeof full, "%s/%s", here, path);
  }
  size_t length = strlen(full);
  while (length > 1 && full[length - 1] == '/') full[--length] = 0;
  char *slash = strrchr(full, '/');
  if (slash == NULL) return 0;
  snprintf(parent, sizeof parent, "%.*s", (int)(slash - full), full);
  char resolved[PATH_MAX];
  int saved = errno;
  int is_there = realpath(parent[0] ? parent : "/", resolved) != NULL;
  errno = saved;
  if (!is_there) return 0;
  snprintf(found, PATH_MAX, "%s%s", strcmp(resolved, "/") ? resolved : "", slash);
  return below(found);
}

static int of_descriptor(int descriptor, char *found, struct stat *state) {
  char link[64];
  if (journal < 0) return 0;
  int saved = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, found, PATH_MAX - 1);
  int ok = length > 0 && fstat(descriptor, state) == 0 && (S_ISREG(state->st_mode) || S_ISDIR(state->st_mode));
  errno = saved;
  if (!ok) return 0;
  found[length] = 0;
  return below(found);
}

static void record(char kind, unsigned long inode, long offset, long length, const char *path, const char *other,
                   const void *bytes, size_t count) {
  char head[PATH_MAX * 2 + 100];
  int saved = errno;
  int size = snprintf(head, sizeof head, "%c\t%lu\t%ld\t%ld\t%s\t%s\n", kind, inode, offset, length, path, other);
  struct iovec parts[2] = {{head, (size_t)size}, {(void *)bytes, count}};
  if (REAL(writev)(journal, parts, count ? 2 : 1) < 0) {
    open_journal(); /* a fork has closed whatever it did not know */
    if (REAL(writev)(journal, parts, count ? 2 : 1) < 0) abort();
  }
  errno = saved;
}

/* Whether this change is to fail: the file holds the number of the error, and of a hundred changes how many are spared;
 * or nothing. */
static int fails(void) {
  static unsigned int turn;
  if (fault_path == NULL) return 0;
  int saved = errno, number = 0, spared = 0;
  FILE *file = fopen(fault_path, "re");
  if (file != NULL) {
    if (fscanf(file, "%d %d", &number, &spared) != 2) number = 0;
    fclose(file);
  }
  if ((int)(turn++ * 37 % 100) < spared) number = 0;
  errno = number ? number : saved;
  return number != 0;
}

static void opened(int descriptor, int flags, int was_there) {
  char path[PATH_MAX];
  struct stat state;
  if (descriptor < 0 || !of_descriptor(descriptor, path, &state) || !S_ISREG(state.st_mode)) return;
  if ((flags & O_CREAT) && !was_there) record('c', state.st_ino, 0, 0, path, "", NULL, 0);
  if (flags & O_TRUNC) record('t', state.st_ino, 0, 0, path, "", NULL, 0);
}

static int is_there(int folder, const char *path) {
  int saved = errno;
  struct stat state;
  int found = fstatat(folder, path, &state, 0) == 0;
  errno = saved;
  return found;
}

#define OPEN_AT(name)                                                                     \
  int name(int folder, const char *path, int flags, ...) {                                \
    va_list rest;                                                                         \
    va_start(rest, flags);                                                                \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;             \
    va_end(rest);                                                                         \
    int was_there = (flags & O_CREAT) ? is_there(folder, path) : 1;                       \
    int descriptor = REAL(name)(folder, path, flags, mode);                               \
    if (flags & (O_CREAT | O_TRUNC)) opened(descriptor, flags, was_there);                \
    return descriptor;                                                                    \
  }
#define OPEN(name)                                                                        \
  int name(const char *path, int flags, ...) {                                            \
    va_list rest;                                                                         \
    va_start(rest, flags);                                                                \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;             \
    va_end(rest);                                                                         \
    int was_there = (flags & O_CREAT) ? is_there(AT_FDCWD, path) : 1;                     \
    int descriptor = REAL(name)(path, flags, mode);                                       \
    if (flags & (O_CREAT | O_TRUNC)) opened(descriptor, flags, was_there);                \
    return descriptor;                                                                    \
  }
OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

static void wrote(int descriptor, long offset, const void *bytes, ssize_t count) {
  char path[PATH_MAX];
  struct stat state;
  if (count > 0 && of_descriptor(descriptor, path, &state))
    record('w', state.st_ino, offset, count, path, "", bytes, (size_t)count);
}

static int on_disk(int descriptor) {
  char path[PATH_MAX];
  struct stat state;
  return of_descriptor(descriptor, path, &state);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (fault_path != NULL && on_disk(descriptor) && fails()) return -1;
  ssize_t done = REAL(write)(descriptor, bytes, count);
  if (done > 0 && on_disk(descriptor)) wrote(descriptor, lseek(descriptor, 0, SEEK_CUR) - done, bytes, done);
  return done;
}

#define PWRITE(name, type)                                                                \
  ssize_t name(int descriptor, const void *bytes, size_t count, type offset) {            \
    if (fault_path != NULL && on_disk(descriptor) && fails()) return -1;                  \
    ssize_t done = REAL(name)(descriptor, bytes, count, offset);                          \
    wrote(descriptor, offset, bytes, done);                                               \
    return done;                                                                          \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  ssize_t done = REAL(writev)(descriptor, parts, count), left = done;
  if (done > 0 && on_disk(descriptor)) {
    long offset = lseek(descriptor, 0, SEEK_CUR) - done;
    for (int at = 0; at < count && left > 0; at++) {
      ssize_t piece = (ssize_t)parts[at].iov_len < left ? (ssize_t)parts[at].iov_len : left;
      wrote(descriptor, offset, parts[at].iov_base, piece);
      offset += piece;
      left -= piece;
    }
  }
  return done;
}

/* Copies inside the kernel are refused, as some file systems do: programs then copy by read and write. */
ssize_t copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t count, unsigned int flags) {
  if (!on_disk(out)) return REAL(copy_file_range)(in, in_at, out, out_at, count, flags);
  errno = EXDEV;
  return -1;
}
#define SENDFILE(name, type)                                                              \
  ssize_t name(int out, int in, type *offset, size_t count) {                             \
    if (!on_disk(out)) return REAL(name)(out, in, offset, count);                         \
    errno = EINVAL;                                                                       \
    return -1;                                                                            \
  }
SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

static void resized(int descriptor, long length) {
  char path[PATH_MAX];
  struct stat state;
  if (of_descriptor(descriptor, path, &state)) record('t', state.st_ino, length, 0, path, "", NULL, 0);
}
int ftruncate(int descriptor, off_t length) {
  int done = REAL(ftruncate)(descriptor, length);
  if (done == 0) resized(descriptor, length);
  return done;
}
int ftruncate64(int descriptor, off64_t length) {
  int done = REAL(ftruncate64)(descriptor, length);
  if (done == 0) resized(descriptor, length);
  return done;
}

static void synced(int descriptor) {
  char path[PATH_MAX];
  struct stat state;
  if (of_descriptor(descriptor, path, &state))
    record(S_ISDIR(state.st_mode) ? 'd' : 's', state.st_ino, 0, 0, path, "", NULL, 0);
}
int fsync(int descriptor) {
  if (fault_path != NULL && on_disk(descriptor) && fails()) return -1;
  int done = REAL(fsync)(descriptor);
  if (done == 0) synced(descriptor);
  return done;
}
int fdatasync(int descriptor) {
  if (fault_path != NULL && on_disk(descriptor) && fails()) return -1;
  int done = REAL(fdatasync)(descriptor);
  if (done == 0) synced(descriptor);
  return done;
}

static void changed(char kind, int folder, const char *path, int other_folder, const char *other) {
  char found[PATH_MAX], target[PATH_MAX] = "";
  int is_here = locate(folder, path, found), is_target = other && locate(other_folder, other, target);
  if (is_here || is_target) record(kind, 0, 0, 0, is_here ? found : "", is_target ? target : "", NULL, 0);
}

int rename(const char *path, const char *to) {
  int done = REAL(rename)(path, to);
  if (done == 0) changed('r', AT_FDCWD, path, AT_FDCWD, to);
  return done;
}
int renameat(int folder, const char *path, int to_folder, const char *to) {
  int done = REAL(renameat)(folder, path, to_folder, to);
  if (done == 0) changed('r', folder, path, to_folder, to);
  return done;
}
int link(const char *path, const char *to) {
  int done = REAL(link)(path, to);
  if (done == 0) changed('l', AT_FDCWD, path, AT_FDCWD, to);
  return done;
}
int linkat(int folder, const char *path, int to_folder, const char *to, int flags) {
  int done = REAL(linkat)(folder, path, to_folder, to, flags);
  if (done == 0) changed('l', folder, path, to_folder, to);
  return done;
}
int unlink(const char *path) {
  int done = REAL(unlink)(path);
  if (done == 0) changed('u', AT_FDCWD, path, 0, NULL);
  return done;
}
int unlinkat(int folder, const char *path, int flags) {
  int done = REAL(unlinkat)(folder, path, flags);
  if (done == 0) changed('u', folder, path, 0, NULL);
  return done;
}
int rmdir(const char *path) {
  int done = REAL(rmdir)(path);
  if (done == 0) changed('u', AT_FDCWD, path, 0, NULL);
  return done;
}
int mkdir(const char *path, mode_t mode) {
  int done = REAL(mkdir)(path, mode);
  if (done == 0) changed('m', AT_FDCWD, path, 0, NULL);
  return done;
}
int mkdirat(int folder, const char *path, mode_t mode) {
  int done = REAL(mkdirat)(folder, path, mode);
  if (done == 0) changed('m', folder, path, 0, NULL);
  return done;
}
int symlink(const char *target, const char *path) {
  int done = REAL(symlink)(target, path);
  char found[PATH_MAX];
  if (done == 0 && locate(AT_FDCWD, path, found)) record('y', 0, 0, 0, found, target, NULL, 0);
  return done;
}
