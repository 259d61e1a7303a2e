//! Resources of the machine: cores, free memory, and what this process has used.

use std::fs;

/// CPU workers to use by default.
pub fn threads() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(cores).unwrap_or(1).min(4096)
}

/// Bytes of memory that are free for use, on the machine or in the cgroup, whichever is less.
#[expect(clippy::disallowed_methods, reason = "the system tells of itself in files")]
pub fn free_memory_bytes() -> Option<u64> {
    let machine = field_kib("/proc/meminfo", "MemAvailable:");
    let read = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let cgroup = read("/sys/fs/cgroup/memory.max")
        .zip(read("/sys/fs/cgroup/memory.current"))
        .or_else(|| {
            read("/sys/fs/cgroup/memory/memory.limit_in_bytes")
                .zip(read("/sys/fs/cgroup/memory/memory.usage_in_bytes"))
        })
        .map(|(limit, used)| limit.saturating_sub(used));
    match (machine, cgroup) {
        (Some(machine), Some(cgroup)) => Some(machine.min(cgroup)),
        (machine, cgroup) => machine.or(cgroup),
    }
}

/// The memory budget when none is given: half of what is free, or 1 GiB where that is not known.
pub fn default_memory_bytes() -> u64 {
    free_memory_bytes().map_or(1 << 30, |free| (free / 2).max(64 << 20))
}

/// Peak resident memory of this process so far, bytes; 0 where the system does not tell.
pub fn peak_rss_bytes() -> u64 {
    field_kib("/proc/self/status", "VmHWM:").unwrap_or(0)
}

/// Resident memory of this process now, bytes; 0 where the system does not tell.
pub fn rss_bytes() -> u64 {
    field_kib("/proc/self/status", "VmRSS:").unwrap_or(0)
}

#[expect(clippy::disallowed_methods, reason = "the system tells of itself in files")]
fn field_kib(path: &str, field: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn linux_tells_memory() {
        assert!(peak_rss_bytes() > 1 << 20);
        assert!(rss_bytes() > 1 << 20 && rss_bytes() <= peak_rss_bytes());
        assert!(free_memory_bytes().unwrap() > 1 << 20);
        assert!(threads() >= 1);
    }
}
