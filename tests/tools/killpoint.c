// killpoint: runs a program and kills it at the N-th call that changes a file below a directory.
//
//   killpoint --prefix DIR --log FILE [--at N | --when TEXT] [--signal S] [--torn] [--lose SEED] [--full] [--slow US] -- PROGRAM ARGS...
//
// Without --at it runs to the end and FILE lists the calls: number, name, path. With --at the program is
// killed before its N-th call; with --torn a write is begun and done by half first; with --lose what was
// written since the last sync of its file (or file system) is cut to a random length, as after a power cut.
// With --when, N is the first call of which a path has TEXT in it: runs of several threads do not all make the
// same calls.
// With --full nothing is killed: the disk is full from the N-th call on, for what is below the directory (ENOSPC).
// --slow US makes each of these calls take that many microseconds longer.
// --signal S sends S instead of SIGKILL and lets the program end by itself; the call it came before waits until the
// program has answered on its standard error (a minute at most), so that it is interrupted there and not somewhere behind.
// Exit: the program's, or 128 + signal.
//
// The program is traced (ptrace), so that calls are seen whoever makes them; a preloaded library would miss
// those that do not go through libc. A filter (seccomp) has it stop at calls that can change a file only. Linux only.
// Paths as the kernel resolves them; names that were changed since the last sync of their directory are not taken back.
#define _GNU_SOURCE
#include <elf.h>
#include <asm/types.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// As in linux/ptrace.h, which cannot stand beside sys/ptrace.h, whose own name for it changed.
struct call_info {
    __u8 op;
    __u8 pad[3];
    __u32 arch;
    __u64 instruction_pointer, stack_pointer;
    union {
        struct { __u64 nr, args[6]; } entry;
        struct { __s64 value; __u8 is_error; } exit;
        __u8 room[64];
    };
};

// Its `op`: a call is entered, ends, or is entered and one that the filter tells of.
enum { ENTERED = 1, ENDED = 2, TOLD = 3 };

enum { THREADS_MAX = 1024, FILES_MAX = 65536 };
enum kind { NONE, OPEN, WRITE, RENAME, REMOVE, SYNC_FILE, SYNC_ALL, OTHER };

struct call {
    const char *name;
    enum kind kind;
    char path[PATH_MAX];
    char second[PATH_MAX];  // the new name of a rename
    long flags;
    unsigned long at;  // when it was entered
};

struct thread {
    pid_t id;
    struct call call;
    bool torn, refused;
};

// What was written to a file and not yet synced: everything behind `durable` bytes.
struct file {
    char *path;
    off_t durable;
    unsigned long written_at;  // 0: nothing unsynced
};

static struct thread threads[THREADS_MAX];
static struct file files[FILES_MAX];
static size_t thread_count, file_count;
static unsigned long clock_ticks, counted, kill_at;
static const char *prefix, *kill_when;
static FILE *log_file;
static unsigned slow_us;
static bool tears, loses, fills, killed;
static int kill_signal = SIGKILL;
static pid_t program;
static pid_t held;       // a thread whose call waits until the signal is answered
static pid_t answering;  // the one that says something meanwhile

static void die(const char *what) {
    perror(what);
    if (program > 0) kill(program, SIGKILL);
    exit(125);
}

static struct thread *thread_of(pid_t id) {
    for (size_t i = 0; i < thread_count; i++)
        if (threads[i].id == id) return &threads[i];
    if (thread_count == THREADS_MAX) die("too many threads");
    memset(&threads[thread_count], 0, sizeof threads[0]);
    threads[thread_count].id = id;
    return &threads[thread_count++];
}

static struct file *file_of(const char *path, bool make) {
    for (size_t i = 0; i < file_count; i++)
        if (files[i].path != NULL && strcmp(files[i].path, path) == 0) return &files[i];
    if (!make) return NULL;
    if (file_count == FILES_MAX) die("too many files");
    struct stat status;
    // What a file holds when it is first written to is taken for durable.
    off_t durable = stat(path, &status) == 0 ? status.st_size : 0;
    files[file_count] = (struct file){strdup(path), durable, 0};
    return &files[file_count++];
}

static bool read_text(pid_t id, unsigned long address, char *text) {
    for (size_t at = 0; at < PATH_MAX; at += sizeof(long)) {
        errno = 0;
        long word = ptrace(PTRACE_PEEKDATA, id, address + at, 0);
        if (errno != 0) return false;
        size_t room = PATH_MAX - at < sizeof word ? PATH_MAX - at : sizeof word;
        memcpy(text + at, &word, room);
        if (memchr(&word, 0, room) != NULL) return true;
    }
    return false;
}

static void path_of_fd(pid_t id, long fd, char *path) {
    char link[64];
    if (fd == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", id);
    else snprintf(link, sizeof link, "/proc/%d/fd/%ld", id, fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
}

// The path of a name in a directory; both as the traced program gave them.
static void path_of_name(pid_t id, long directory, unsigned long name, char *path) {
    char text[PATH_MAX] = "", base[PATH_MAX];
    path[0] = 0;
    if (!read_text(id, name, text)) return;
    if (text[0] == '/') {
        memcpy(path, text, sizeof text);
        return;
    }
    path_of_fd(id, directory, base);
    if (strlen(base) + strlen(text) + 2 > PATH_MAX) return;
    sprintf(path, "%s/%s", base, text);
}

// A call that can change a file, and the numbers of its arguments, from 1 on; 0: it has none.
struct row {
    unsigned number;
    const char *name;
    enum kind kind;
    int directory, path, second_directory, second, fd, flags;
};

static const struct row rows[] = {
#ifdef SYS_open
    {SYS_open, "open", OPEN, .path = 1, .flags = 2},
    {SYS_creat, "creat", OPEN, .path = 1},
    {SYS_rename, "rename", RENAME, .path = 1, .second = 2},
    {SYS_unlink, "unlink", REMOVE, .path = 1},
    {SYS_rmdir, "rmdir", OTHER, .path = 1},
    {SYS_mkdir, "mkdir", OTHER, .path = 1},
    {SYS_link, "link", OTHER, .path = 2},
    {SYS_renameat, "renameat", RENAME, .directory = 1, .path = 2, .second_directory = 3, .second = 4},
#endif
    {SYS_openat, "openat", OPEN, .directory = 1, .path = 2, .flags = 3},
    {SYS_renameat2, "renameat2", RENAME, .directory = 1, .path = 2, .second_directory = 3, .second = 4},
    {SYS_unlinkat, "unlinkat", REMOVE, .directory = 1, .path = 2},
    {SYS_mkdirat, "mkdirat", OTHER, .directory = 1, .path = 2},
    {SYS_linkat, "linkat", OTHER, .directory = 3, .path = 4},
    {SYS_truncate, "truncate", OTHER, .path = 1},
    {SYS_write, "write", WRITE, .fd = 1},
    {SYS_pwrite64, "pwrite", WRITE, .fd = 1},
    {SYS_writev, "writev", WRITE, .fd = 1},
    {SYS_pwritev, "pwritev", WRITE, .fd = 1},
    {SYS_pwritev2, "pwritev2", WRITE, .fd = 1},
    {SYS_copy_file_range, "copy_file_range", WRITE, .fd = 3},
    {SYS_sendfile, "sendfile", WRITE, .fd = 1},
    {SYS_ftruncate, "ftruncate", WRITE, .fd = 1},
    {SYS_fallocate, "fallocate", WRITE, .fd = 1},
    {SYS_fsync, "fsync", SYNC_FILE, .fd = 1},
    {SYS_fdatasync, "fdatasync", SYNC_FILE, .fd = 1},
    {SYS_syncfs, "syncfs", SYNC_ALL, .fd = 1},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

// Has the kernel tell of these calls of this process and its threads, and of no others.
static bool filter_calls(void) {
    struct sock_filter steps[2 * ROWS + 2];
    size_t length = 0;
    steps[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ROWS; i++) {
        steps[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rows[i].number, 0, 1);
        steps[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    steps[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {length, steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// The call that is entered, if it is of a file below the directory; paths resolved now.
static struct call look(pid_t id, const struct call_info *info) {
    const __u64 *a = info->entry.args;
    size_t at = 0;
    while (at < ROWS && rows[at].number != info->entry.nr) at++;
    if (at == ROWS) return (struct call){0};
    const struct row *row = &rows[at];
    struct call call = {.name = row->name, .kind = row->kind};
    call.flags = row->flags != 0 ? (long)a[row->flags - 1] : O_CREAT | O_TRUNC;
    if (call.kind == OPEN && (call.flags & (O_CREAT | O_TRUNC)) == 0) return (struct call){0};
    long directory = row->directory != 0 ? (long)a[row->directory - 1] : AT_FDCWD;
    long second_directory = row->second_directory != 0 ? (long)a[row->second_directory - 1] : AT_FDCWD;
    if (row->path != 0) path_of_name(id, directory, a[row->path - 1], call.path);
    else path_of_fd(id, a[row->fd - 1], call.path);
    if (row->second != 0) path_of_name(id, second_directory, a[row->second - 1], call.second);
    char text[PATH_MAX] = "";
    long unnamed = -1;
    if (row->number == SYS_linkat && read_text(id, a[1], text) && sscanf(text, "/proc/self/fd/%ld", &unnamed) == 1) {
        // A file without a name gets one; of other files nothing links.
        call.kind = RENAME;
        memcpy(call.second, call.path, sizeof call.path);
        path_of_fd(id, unnamed, call.path);
    }
    size_t length = strlen(prefix);
    bool ours = strncmp(call.path, prefix, length) == 0 || strncmp(call.second, prefix, length) == 0;
    return ours ? call : (struct call){0};
}

static void mark_written(const char *path) {
    file_of(path, true)->written_at = ++clock_ticks;
}

static void mark_durable(struct file *file, unsigned long until) {
    struct stat status;
    if (file->path == NULL || file->written_at == 0 || file->written_at > until) return;
    if (stat(file->path, &status) == 0) file->durable = status.st_size;
    file->written_at = 0;
}

// A call that has come to its end without an error.
static void after(const struct call *call) {
    struct file *file;
    switch (call->kind) {
    case OPEN:
        if ((call->flags & (O_TRUNC | O_EXCL)) != 0) file_of(call->path, true)->durable = 0;
        break;
    case WRITE: mark_written(call->path); break;
    case RENAME:
        if ((file = file_of(call->second, false)) != NULL) free(file->path), file->path = NULL;
        if ((file = file_of(call->path, false)) != NULL) free(file->path), file->path = strdup(call->second);
        break;
    case REMOVE:
        if ((file = file_of(call->path, false)) != NULL) free(file->path), file->path = NULL;
        break;
    case SYNC_FILE:
        if ((file = file_of(call->path, false)) != NULL) mark_durable(file, call->at);
        break;
    case SYNC_ALL:
        for (size_t i = 0; i < file_count; i++) mark_durable(&files[i], call->at);
        break;
    default: break;
    }
}

// Makes a write end in the middle of what it was given.
static bool halve(pid_t id, const struct call *call) {
    if (strcmp(call->name, "write") != 0 && strcmp(call->name, "pwrite") != 0) return false;
    struct user_regs_struct registers;
    struct iovec vector = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, id, NT_PRSTATUS, &vector) != 0) return false;
#if defined(__x86_64__)
    registers.rdx /= 2;
#elif defined(__aarch64__)
    registers.regs[2] /= 2;
#else
    return false;
#endif
    return ptrace(PTRACE_SETREGSET, id, NT_PRSTATUS, &vector) == 0;
}

// Whether a call needs room: a full disk refuses it, or says so when what was written is to be kept.
static bool needs_room(const struct call *call) {
    bool is_made = call->kind == OTHER && strcmp(call->name, "mkdirat") == 0;
#ifdef SYS_mkdir
    is_made = is_made || (call->kind == OTHER && strcmp(call->name, "mkdir") == 0);
#endif
    return call->kind == WRITE || call->kind == OPEN || call->kind == SYNC_FILE || is_made;
}

// Has the kernel do nothing for the call that is entered; with `is_exit`, the call that ends says ENOSPC.
static bool refuse(pid_t id, bool is_exit) {
    struct user_regs_struct registers;
    struct iovec vector = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, id, NT_PRSTATUS, &vector) != 0) return false;
#if defined(__x86_64__)
    if (is_exit) registers.rax = -ENOSPC;
    else registers.orig_rax = -1;
#elif defined(__aarch64__)
    int none = -1;
    struct iovec number = {&none, sizeof none};
    if (!is_exit) return ptrace(PTRACE_SETREGSET, id, NT_ARM_SYSTEM_CALL, &number) == 0;
    registers.regs[0] = -ENOSPC;
#else
    return false;
#endif
    return ptrace(PTRACE_SETREGSET, id, NT_PRSTATUS, &vector) == 0;
}

static void strike(pid_t id) {
    killed = kill_signal == SIGKILL;
    if (!killed) {
        held = id;
        alarm(60);  // nobody answers: this ends, and the program with it
    }
    kill(program, kill_signal);
}

// Whoever has said something has acted on the signal when its next call is another one: then the held call goes on.
static void watch_for_answer(pid_t id, const struct call_info *info) {
    bool is_write = info->entry.nr == SYS_write || info->entry.nr == SYS_writev;
    if (is_write && info->entry.args[0] == STDERR_FILENO) {
        answering = id;
    } else if (id == answering) {
        alarm(0);
        ptrace(PTRACE_SYSCALL, held, 0, 0);
        held = answering = 0;
    }
}

static void on_entry(struct thread *thread, const struct call_info *info) {
    thread->call = look(thread->id, info);
    if (thread->call.kind == NONE) return;
    counted++;
    thread->call.at = clock_ticks;
    if (kill_when != NULL && kill_at == 0 && (strstr(thread->call.path, kill_when) || strstr(thread->call.second, kill_when)))
        kill_at = counted;
    fprintf(log_file, "%lu %s %s %s\n", counted, thread->call.name, thread->call.path, thread->call.second);
    if (slow_us != 0) usleep(slow_us);
    if (fills) {
        thread->refused = kill_at != 0 && counted >= kill_at && needs_room(&thread->call);
        if (thread->refused && !refuse(thread->id, false)) die("cannot refuse a call");
        return;
    }
    if (thread->call.kind == WRITE) mark_written(thread->call.path);
    if (kill_at != counted) return;
    thread->torn = tears && halve(thread->id, &thread->call);
    if (!thread->torn) strike(thread->id);
}

static void on_exit_of_call(struct thread *thread, const struct call_info *info) {
    if (thread->refused && !refuse(thread->id, true)) die("cannot refuse a call");
    if (thread->call.kind != NONE && !thread->refused && !info->exit.is_error) after(&thread->call);
    if (thread->torn) strike(thread->id);
    thread->refused = false;
    thread->call.kind = NONE;
}

// Cuts what was never made durable, as a power cut may.
static void lose_unsynced(void) {
    for (size_t i = 0; i < file_count; i++) {
        struct stat status;
        struct file *file = &files[i];
        if (file->path == NULL || file->written_at == 0 || stat(file->path, &status) != 0) continue;
        if (status.st_size <= file->durable) continue;
        off_t kept = file->durable + random() % (status.st_size - file->durable + 1);
        if (random() % 3 == 0) kept = file->durable;
        if (truncate(file->path, kept) != 0) die(file->path);
        fprintf(log_file, "lost %s: %lld of %lld bytes kept\n", file->path, (long long)kept, (long long)status.st_size);
    }
}

static int trace(void) {
    int status, result = 0;
    pid_t id;
    while ((id = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (id == program) result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            thread_of(id)->id = 0;
            continue;
        }
        int signal = WSTOPSIG(status), event = status >> 16;
        if (signal == (SIGTRAP | 0x80) || event == PTRACE_EVENT_SECCOMP) {
            struct call_info info;
            if (ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info) > 0 && !killed) {
                if (info.op != ENDED && held != 0) watch_for_answer(id, &info);
                if (info.op == TOLD) on_entry(thread_of(id), &info);
                else if (info.op == ENDED) on_exit_of_call(thread_of(id), &info);
            }
            signal = 0;
        } else if (event != 0 || signal == SIGSTOP) {
            signal = 0;  // a new thread, or its first stop
        }
        if (id == held) continue;
        // The end of a call is waited for, and what somebody does who has said something.
        bool is_followed = thread_of(id)->call.kind != NONE || id == answering;
        ptrace(is_followed ? PTRACE_SYSCALL : PTRACE_CONT, id, 0, signal);
    }
    return result;
}

static void start(char **arguments) {
    program = fork();
    if (program == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        if (!filter_calls()) {
            perror("seccomp");
            _exit(126);
        }
        execv(arguments[0], arguments);
        perror(arguments[0]);
        _exit(126);
    }
    if (program < 0 || waitpid(program, NULL, 0) < 0) die("fork");
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                   PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, program, 0, options) != 0) die("ptrace");
    ptrace(PTRACE_CONT, program, 0, 0);
}

int main(int count, char **arguments) {
    int at = 1;
    for (; at < count && strcmp(arguments[at], "--") != 0; at++) {
        const char *option = arguments[at];
        if (strcmp(option, "--torn") == 0) tears = true;
        else if (strcmp(option, "--full") == 0) fills = true;
        else if (at + 1 == count) break;
        else if (strcmp(option, "--prefix") == 0) prefix = arguments[++at];
        else if (strcmp(option, "--log") == 0) log_file = fopen(arguments[++at], "w");
        else if (strcmp(option, "--at") == 0) kill_at = strtoul(arguments[++at], NULL, 10);
        else if (strcmp(option, "--when") == 0) kill_when = arguments[++at];
        else if (strcmp(option, "--slow") == 0) slow_us = atoi(arguments[++at]);
        else if (strcmp(option, "--signal") == 0) kill_signal = atoi(arguments[++at]);
        else if (strcmp(option, "--lose") == 0) loses = true, srandom(atoi(arguments[++at]));
        else break;
    }
    if (at + 1 >= count || strcmp(arguments[at], "--") != 0 || prefix == NULL || log_file == NULL) {
        fprintf(stderr, "usage: killpoint --prefix DIR --log FILE [--at N | --when TEXT] [--signal S] [--torn] [--lose SEED] [--full] [--slow US] -- PROGRAM ARGS...\n");
        return 125;
    }
    start(arguments + at + 1);
    int result = trace();
    if (killed && loses) lose_unsynced();
    if (fclose(log_file) != 0) die("log");
    return result;
}
