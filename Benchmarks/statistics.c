/* From samples to one JSON object a lane: over all rounds, and of each, so that rounds can be paired. */
#include "bench.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Samples of rounds from..to-1 of the lane's clients, sorted; the caller frees them. */
static uint32_t *gather(const struct record *records, unsigned clients, unsigned from, unsigned to,
                        size_t *count)
{
    size_t n = 0, k = 0;
    for (unsigned c = 0; c < clients; c++)
        n += records[c].mark[to] - records[c].mark[from];
    uint32_t *all = malloc((n ? n : 1) * sizeof *all);
    if (!all)
        die("out of memory", 0, NULL);
    for (unsigned c = 0; c < clients; c++)
        for (uint64_t i = records[c].mark[from]; i < records[c].mark[to]; i++)
            all[k++] = records[c].ns[i];
    qsort(all, n, sizeof *all, ascending);
    *count = n;
    return all;
}

static double quantile_us(const uint32_t *sorted, size_t count, double q)
{
    return count ? (double)sorted[(size_t)(q * (double)(count - 1))] / 1000.0 : 0;
}

static uint64_t calls_of(const struct record *records, unsigned clients, unsigned from, unsigned to)
{
    uint64_t n = 0;
    for (unsigned c = 0; c < clients; c++)
        for (unsigned r = from; r < to; r++)
            n += records[c].calls[r];
    return n;
}

static double rate_of(uint64_t calls, const struct slice *slices, unsigned from, unsigned to)
{
    uint64_t wall = 0;
    for (unsigned r = from; r < to; r++)
        wall += slices[r].wall_ns;
    return wall ? (double)calls * 1e9 / (double)wall : 0;
}

static void print_span(const struct record *records, unsigned clients, const struct slice *slices,
                       unsigned from, unsigned to)
{
    size_t count;
    uint32_t *all = gather(records, clients, from, to, &count);
    uint64_t calls = calls_of(records, clients, from, to);
    printf("\"calls\":%" PRIu64 ",\"p50\":%.2f,\"p99\":%.2f,\"rate\":%.1f", calls,
           quantile_us(all, count, 0.5), quantile_us(all, count, 0.99), rate_of(calls, slices, from, to));
    free(all);
}

void lane_print(const struct lane *lane, const struct record *records, unsigned clients_all,
                const struct slice *slices, unsigned rounds)
{
    uint64_t verified = 0, cpu = 0, calls = calls_of(records, lane->clients, 0, rounds);
    for (unsigned c = 0; c < lane->clients; c++)
        verified += records[c].verified;
    for (unsigned r = 0; r < rounds; r++)
        cpu += slices[r].cpu_ns;
    printf("{\"lane\":\"%s\",\"clients\":%u,\"verified\":%" PRIu64 ",\"cpu_us\":%.2f,", lane->word,
           lane->clients, verified, calls ? (double)cpu / 1000.0 / (double)calls : 0);
    print_span(records, lane->clients, slices, 0, rounds);
    if (lane->beside.operation)
        printf(",\"beside_rate\":%.1f",
               rate_of(calls_of(records + clients_all, 1, 0, rounds), slices, 0, rounds));
    printf(",\"rounds\":[");
    for (unsigned r = 0; r < rounds; r++) {
        printf("%s{", r ? "," : "");
        print_span(records, lane->clients, slices, r, r + 1);
        printf("}");
    }
    printf("]}");
}
