/* A libnvidia-ml.so.1 for tests: two GPUs whose state NVML_STATE names. Layouts are those of NVIDIA's nvml.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int ret;
enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, LOST = 15, MISMATCH = 18 };
typedef struct { unsigned long long total, free, used; } memory;
typedef struct { unsigned pid; unsigned long long used; unsigned gi, ci; } process;

static int is(const char *state) {
    const char *now = getenv("NVML_STATE");
    return now && strcmp(now, state) == 0;
}
static unsigned index_of(void *device) { return (unsigned)((size_t)device - 1); }

ret nvmlInit_v2(void) {
    if (is("mismatch")) return MISMATCH;
    if (is("denied")) return NO_PERMISSION;
    while (is("hang")) pause();
    return OK;
}
ret nvmlInitWithFlags(unsigned flags) { (void)flags; return nvmlInit_v2(); }
ret nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(ret code) {
    switch (code) {
    case MISMATCH: return "Driver/library version mismatch";
    case NO_PERMISSION: return "Insufficient Permissions";
    case LOST: return "GPU is lost";
    case NOT_SUPPORTED: return "Not Supported";
    default: return "Unknown Error";
    }
}
ret nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "570.86.15"); return OK; }
ret nvmlSystemGetCudaDriverVersion_v2(int *version) { *version = 12080; return OK; }
ret nvmlDeviceGetCount_v2(unsigned *count) { *count = is("none") ? 0 : 2; return OK; }
ret nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    if (is("lost") && index == 1) return LOST;
    *device = (void *)(size_t)(index + 1);
    return OK;
}
ret nvmlDeviceGetUUID(void *device, char *text, unsigned length) {
    snprintf(text, length, "GPU-00000000-0000-0000-0000-00000000000%u", index_of(device));
    return OK;
}
ret nvmlDeviceGetName(void *device, char *text, unsigned length) { (void)device; snprintf(text, length, "Test GPU"); return OK; }
ret nvmlDeviceGetMemoryInfo(void *device, memory *info) {
    unsigned long long gib = 1ULL << 30;
    if (is("unified")) return NOT_SUPPORTED;
    info->total = 24 * gib;
    info->used = is("held") && index_of(device) == 0 ? 20 * gib : gib / 1024;
    info->free = info->total - info->used;
    return OK;
}
ret nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) { (void)device; *major = 8; *minor = 9; return OK; }
ret nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *pending) { (void)device; *now = *pending = is("mig"); return OK; }
ret nvmlDeviceGetComputeMode(void *device, int *mode) { (void)device; *mode = is("exclusive") ? 3 : 0; return OK; }
ret nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, unsigned long long *count) {
    (void)device; (void)kind; (void)counter;
    *count = is("ecc") ? 3 : 0;
    return OK;
}
ret nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *list) {
    unsigned held = is("held") && index_of(device) == 0;
    if (*count < held) { *count = held; return 7; /* insufficient size */ }
    *count = held;
    if (held) {
        memset(list, 0, sizeof *list);
        list->pid = (unsigned)atoi(getenv("NVML_PID"));
        list->used = 19ULL << 30;
    }
    return OK;
}
