// peak_rss REPORT PROGRAM ARGS...: runs the program and writes the peak of its resident memory, bytes, to REPORT.
//
// What the operating system counted, not what the program says of itself. Linux: ru_maxrss is in KiB, and begins at
// what this small process had resident when it became the program.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: peak_rss REPORT PROGRAM ARGS...\n");
        return 125;
    }
    pid_t child = fork();
    if (child == 0) {
        execv(arguments[2], arguments + 2);
        perror(arguments[2]);
        _exit(126);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror("peak_rss");
        return 125;
    }
    FILE *report = fopen(arguments[1], "w");
    if (report == NULL || fprintf(report, "%lld\n", (long long)usage.ru_maxrss * 1024) < 0 || fclose(report) != 0) {
        perror(arguments[1]);
        return 125;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
