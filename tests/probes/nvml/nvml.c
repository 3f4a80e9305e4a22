/* A libnvidia-ml.so.1 for tests: two GPUs whose state NVML_STATE names. Layouts are those of NVIDIA's nvml.h.
 *
 *   idle, none          two GPUs with nothing on them; no GPU
 *   held, hidden        20 GiB of GPU 0 in use, 19 of them by process NVML_PID; by nobody that is listed
 *   drawing             as held, and the process is listed as one that draws, too
 *   mismatch, denied, unloaded, uncounted    the library does not start
 *   hang, hang-load, hang-late               for ever in nvmlInit, in the loader, in a call on GPU 1
 *   crash               a call ends the process
 *   lost, reset         GPU 1 has fallen off the bus; GPU 1 asks for a reset
 *   mig, exclusive, unified, ecc, rows, pages, throttled, nvlink     states of the GPUs
 *   r470                a driver without the entry points that came with R510
 *   r535                a driver whose _v3 entries are longer than those of the header
 *   hostile             names with control characters
 *
 * A process that hangs first writes "!" into NVML_FIFO, if set, and keeps it open, so that a test sees its end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int ret;
typedef unsigned long long u64;
enum {
    OK = 0, INVALID = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, INSUFFICIENT_SIZE = 7, NOT_LOADED = 9,
    FUNCTION_NOT_FOUND = 13, LOST = 15, MISMATCH = 18, VERSION = 25, UNKNOWN = 999
};
enum { MEMORY_V2 = 0x02000028, RESET_STATUS = 226 };
typedef struct { u64 total, free, used; } memory;
typedef struct { unsigned version; u64 total, reserved, free, used; } memory_v2;
typedef struct { unsigned pid; u64 used; unsigned gi, ci; } process;
typedef struct { unsigned pid; u64 used; unsigned gi, ci; u64 protected_used; } process_r535;
typedef struct { unsigned id, scope; long long stamp, latency; int type; ret code; u64 value; } field;

_Static_assert(sizeof(memory_v2) == (MEMORY_V2 & 0xffffff), "nvmlMemory_v2_t");
_Static_assert(sizeof(process) == 24, "nvmlProcessInfo_v2_t");
_Static_assert(sizeof(field) == 40, "nvmlFieldValue_t");

static const u64 GIB = 1ULL << 30, MIB = 1ULL << 20;

static int is(const char *state) {
    const char *now = getenv("NVML_STATE");
    return now && strcmp(now, state) == 0;
}
static unsigned index_of(void *device) { return (unsigned)((size_t)device - 1); }
static int busy(void *device) { return index_of(device) == 0 && (is("held") || is("hidden") || is("drawing") || is("r470") || is("r535")); }
static int listed(void *device) { return busy(device) && !is("hidden"); }
static void hang(void) {
    const char *fifo = getenv("NVML_FIFO");
    if (fifo && write(open(fifo, O_WRONLY), "!", 1) != 1) abort();
    for (;;) pause();
}

__attribute__((constructor)) static void load(void) { if (is("hang-load")) hang(); }

ret nvmlInit_v2(void) {
    if (is("mismatch")) return MISMATCH;
    if (is("denied")) return NO_PERMISSION;
    if (is("unloaded")) return NOT_LOADED;
    if (is("hang")) hang();
    return OK;
}
ret nvmlInitWithFlags(unsigned flags) { (void)flags; return nvmlInit_v2(); }
ret nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(ret code) { return code == UNKNOWN ? "Unknown Error" : "Error of the test"; }
ret nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "570.86.15"); return OK; }
ret nvmlSystemGetCudaDriverVersion_v2(int *version) { *version = 12080; return OK; }
ret nvmlDeviceGetCount_v2(unsigned *count) {
    if (is("uncounted")) return UNKNOWN;
    *count = is("none") ? 0 : 2;
    return OK;
}
ret nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    if (is("lost") && index == 1) return LOST;
    *device = (void *)(size_t)(index + 1);
    return OK;
}
ret nvmlDeviceGetUUID(void *device, char *text, unsigned length) {
    snprintf(text, length, "GPU-00000000-0000-0000-0000-00000000000%u", index_of(device));
    return OK;
}
ret nvmlDeviceGetName(void *device, char *text, unsigned length) {
    if (is("hang-late") && index_of(device) == 1) hang();
    if (is("crash")) abort();
    snprintf(text, length, is("hostile") ? "Test\x1b[31m GPU" : "Test GPU");
    return OK;
}

/* The first version counts what the driver reserves as used, the second apart. */
ret nvmlDeviceGetMemoryInfo_v2(void *device, memory_v2 *info) {
    if (is("r470")) return FUNCTION_NOT_FOUND;
    if (info->version != MEMORY_V2) return VERSION;
    if (is("unified")) return NOT_SUPPORTED;
    info->total = 24 * GIB;
    info->reserved = 512 * MIB;
    info->used = busy(device) ? 20 * GIB : MIB;
    info->free = info->total - info->reserved - info->used;
    return OK;
}
ret nvmlDeviceGetMemoryInfo(void *device, memory *info) {
    if (is("unified")) return NOT_SUPPORTED;
    info->total = 24 * GIB;
    info->used = 512 * MIB + (busy(device) ? 20 * GIB : MIB);
    info->free = info->total - info->used;
    return OK;
}

static void fill(process *entry) {
    memset(entry, 0, sizeof *entry);
    entry->pid = (unsigned)strtoul(getenv("NVML_PID"), NULL, 10);
    entry->used = 19 * GIB;
}
static ret list(unsigned held, unsigned *count, process *entries) {
    if (*count < held) { *count = held; return INSUFFICIENT_SIZE; }
    *count = held;
    if (held) fill(entries);
    return OK;
}
ret nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count, process *entries) {
    return list(listed(device), count, entries);
}
ret nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *entries) {
    if (is("r470")) return FUNCTION_NOT_FOUND;
    if (is("r535") && listed(device)) {
        process_r535 long_entry = {.pid = 1, .used = 2, .gi = 3, .ci = 4, .protected_used = 5};
        if (*count < 2) { *count = 2; return INSUFFICIENT_SIZE; }
        *count = 2;
        memcpy(entries, &long_entry, sizeof long_entry);
        return OK;
    }
    return list(listed(device), count, entries);
}
ret nvmlDeviceGetGraphicsRunningProcesses_v2(void *device, unsigned *count, process *entries) {
    return list(listed(device) && is("drawing"), count, entries);
}

ret nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) { (void)device; *major = 8; *minor = 9; return OK; }
ret nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending) { (void)device; *now = *pending = is("mig"); return OK; }
ret nvmlDeviceGetComputeMode(void *device, int *mode) { (void)device; *mode = is("exclusive") ? 3 : 0; return OK; }
ret nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, u64 *count) {
    (void)device;
    *count = is("ecc") && kind == 1 && counter == 0 ? 3 : 0;
    return OK;
}
ret nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed) {
    (void)device;
    if (!is("rows")) return NOT_SUPPORTED;
    *corrected = 1; *uncorrected = 2; *pending = 1; *failed = 0;
    return OK;
}
ret nvmlDeviceGetRetiredPages(void *device, int cause, unsigned *count, u64 *addresses) {
    (void)device;
    if (!is("pages")) return NOT_SUPPORTED;
    unsigned held = cause == 0 ? 2 : 1;
    if (*count < held || !addresses) { *count = held; return INSUFFICIENT_SIZE; }
    *count = held;
    memset(addresses, 0, held * sizeof *addresses);
    return OK;
}
ret nvmlDeviceGetRetiredPagesPendingStatus(void *device, int *pending) {
    (void)device;
    if (!is("pages")) return NOT_SUPPORTED;
    *pending = 1;
    return OK;
}
ret nvmlDeviceGetCurrentClocksThrottleReasons(void *device, u64 *reasons) {
    (void)device;
    *reasons = is("throttled") ? 0x1 | 0x8 | 0x40 : 0x1;
    return OK;
}
ret nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *up) {
    (void)device;
    if (!is("nvlink")) return NOT_SUPPORTED;
    if (link >= 18) return INVALID;
    *up = link != 3;
    return OK;
}
ret nvmlDeviceGetFieldValues(void *device, int count, field *values) {
    for (int i = 0; i < count; i++) {
        values[i].code = values[i].id == RESET_STATUS ? OK : NOT_SUPPORTED;
        values[i].value = is("reset") && index_of(device) == 1;
    }
    return OK;
}
