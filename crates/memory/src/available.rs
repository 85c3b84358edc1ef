//! Memory that this process may still take: the least of what the system, its control groups and its own limits leave.
//!
//! | limit | left of it |
//! |---|---|
//! | system | `MemAvailable` of `/proc/meminfo`: free memory, and what can be freed without swapping |
//! | control group, version 2 | `memory.max` and `memory.high`, less `memory.current`, of the process's group and those above it |
//! | control group, version 1 | `memory.limit_in_bytes`, less `memory.usage_in_bytes`, of the same |
//! | address space | `RLIMIT_AS` (`ulimit -v`), less `VmSize` and 512 MiB |
//! | data | `RLIMIT_DATA` (`ulimit -d`), less `VmData` and 512 MiB |
//!
//! A group's use counts files that were read; those not used lately (`inactive_file`) make room at once, so they are not counted.
//! Kernel documentation: `Documentation/admin-guide/cgroup-v2.rst` and `cgroup-v1/memory.rst`; proc(5), getrlimit(2).

use odonata_units::Bytes;
use std::path::{Path, PathBuf};

/// Set aside within an address space or its data: libraries reserve it and hardly use it while tables are written and
/// threads run (pools of Arrow and of malloc, stacks). A small run goes through from `ulimit -v` 1,150,000 kB up with it.
const RESERVED_BYTES: u64 = 512 << 20;

/// From here on a limit of version 1 means that there is none: it is the largest number of pages.
const UNLIMITED: u64 = 1 << 60;

/// Memory that is left, and of what.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct AvailableMemory {
    /// How much.
    pub bytes: u64,
    /// Name of the limit, as it follows "are left of".
    pub of: String,
}

impl std::fmt::Display for AvailableMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} are left of {}", Bytes(self.bytes), self.of)
    }
}

/// What takes less is built whatever is left: what it is for is guarded in its turn.
const SMALL_BYTES: u64 = 32 << 20;

/// A rank as it is placed: its node, and a number of as many bytes in each list that a pattern or an engine makes of ranks.
const BYTES_PER_PLACED_RANK: u64 = 16;

/// Lets a machine be built that takes so many bytes.
///
/// # Errors
/// Message if that is more than is left.
pub fn admit_machine(bytes: u64, left: Option<AvailableMemory>) -> Result<(), String> {
    admit_part("the machine needs", bytes, "use a smaller one", left)
}

/// Lets so many ranks be placed.
///
/// # Errors
/// Message if there is no memory for them.
pub fn admit_ranks(ranks: u64, left: Option<AvailableMemory>) -> Result<(), String> {
    let bytes = ranks.saturating_mul(BYTES_PER_PLACED_RANK);
    admit_part(&format!("the {ranks} ranks of the jobs need"), bytes, "use fewer", left)
}

fn admit_part(what: &str, bytes: u64, instead: &str, left: Option<AvailableMemory>) -> Result<(), String> {
    match left {
        Some(left) if bytes > left.bytes.max(SMALL_BYTES) => {
            Err(format!("{what} about {} but {left}; {instead}, or raise the limit", Bytes(bytes)))
        }
        _ => Ok(()),
    }
}

/// Minimum left of any limit; `None` if the system reports no limit.
pub fn available() -> Option<AvailableMemory> {
    available_below(Path::new("/"))
}

/// The same of the files of a system below a directory.
pub fn available_below(root: &Path) -> Option<AvailableMemory> {
    system(root).into_iter().chain(control_groups(root)).chain(hard_limits(root)).min()
}

/// What is left of the limits at which memory is refused instead of a process ended or slowed down.
pub fn address_space() -> Option<AvailableMemory> {
    hard_limits(Path::new("/")).into_iter().min()
}

/// Bytes of this process that are in memory, 0 where the system does not say.
pub fn resident_bytes() -> u64 {
    kib(&read(Path::new("/proc/self/status")), "VmRSS:").unwrap_or(0)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// A line `name  number kB` as bytes.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

fn system(root: &Path) -> Option<AvailableMemory> {
    let bytes = kib(&read(&root.join("proc/meminfo")), "MemAvailable:")?;
    Some(AvailableMemory { bytes, of: "the system's memory (MemAvailable of /proc/meminfo)".into() })
}

fn hard_limits(root: &Path) -> Vec<AvailableMemory> {
    let (limits, status) = (read(&root.join("proc/self/limits")), read(&root.join("proc/self/status")));
    let left = |name: &str, used: &str, of: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        // The soft limit comes first; "unlimited" is no number.
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
        let bytes = limit.saturating_sub(kib(&status, used).unwrap_or(0)).saturating_sub(RESERVED_BYTES);
        Some(AvailableMemory { bytes, of: of.into() })
    };
    let of_space = "the process's address space (RLIMIT_AS, `ulimit -v`), less what libraries reserve";
    let of_data = "the process's data (RLIMIT_DATA, `ulimit -d`), less what libraries reserve";
    let found = [left("Max address space", "VmSize:", of_space), left("Max data size", "VmData:", of_data)];
    found.into_iter().flatten().collect()
}

/// The files of a version of control groups: limits, use, and the part of it that files not used lately take.
struct Names {
    limits: &'static [&'static str],
    used: &'static str,
    idle_files: &'static str,
}

const VERSION_1: Names =
    Names { limits: &["memory.limit_in_bytes"], used: "memory.usage_in_bytes", idle_files: "total_inactive_file " };
const VERSION_2: Names =
    Names { limits: &["memory.max", "memory.high"], used: "memory.current", idle_files: "inactive_file " };

fn control_groups(root: &Path) -> Vec<AvailableMemory> {
    let (groups, mounts) = (read(&root.join("proc/self/cgroup")), read(&root.join("proc/self/mountinfo")));
    let mut found = Vec::new();
    for mount in mounts.lines().filter_map(Mount::of) {
        let own = groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            mount.has(controllers).then_some(path)
        });
        let names = if mount.unified { &VERSION_2 } else { &VERSION_1 };
        // The group as the mount shows it. In a container it may show another part of the tree; then it is the group of the container.
        let below = own.and_then(|path| Path::new(path).strip_prefix(mount.shows).ok()).unwrap_or(Path::new(""));
        for group in below.ancestors() {
            found.extend(left_of_group(root, &Path::new(mount.at).join(group), names));
        }
    }
    found
}

/// Where control groups are shown that may limit memory.
struct Mount<'a> {
    unified: bool,
    /// The part of the tree of groups that is shown, and where.
    shows: &'a str,
    at: &'a str,
}

impl<'a> Mount<'a> {
    /// Of a line of `/proc/self/mountinfo`: number, parent, device, root, mount point, options, tags, -, type, source, options.
    fn of(line: &'a str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let (mut place, mut kind) = (place.split(' ').skip(3), kind.split(' '));
        let (shows, at) = (place.next()?, place.next()?);
        let unified = match (kind.next()?, kind.nth(1)?) {
            ("cgroup2", _) => true,
            ("cgroup", options) if options.split(',').any(|option| option == "memory") => false,
            _ => return None,
        };
        Some(Self { unified, shows, at })
    }

    /// Whether a line of `/proc/self/cgroup` with these controllers is about this tree.
    fn has(&self, controllers: &str) -> bool {
        if self.unified {
            controllers.is_empty()
        } else {
            controllers.split(',').any(|controller| controller == "memory")
        }
    }
}

fn left_of_group(root: &Path, group: &Path, names: &Names) -> Option<AvailableMemory> {
    // Joining an absolute path would leave the root behind.
    let directory = root.join(group.strip_prefix("/").unwrap_or(group));
    let number = |path: PathBuf| read(&path).trim().parse::<u64>().ok();
    let used = number(directory.join(names.used))?;
    let idle = read(&directory.join("memory.stat"));
    let idle = idle.lines().find_map(|line| line.strip_prefix(names.idle_files)?.trim().parse().ok()).unwrap_or(0);
    let limits = names.limits.iter().filter_map(|name| Some((number(directory.join(name))?, *name)));
    let (limit, name) = limits.filter(|(limit, _)| *limit < UNLIMITED).min()?;
    let bytes = limit.saturating_sub(used.saturating_sub(idle));
    Some(AvailableMemory { bytes, of: format!("the control group's limit ({})", group.join(name).display()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with the files of a system: 8 GB are free, the process has 1 GB of addresses.
    struct System(PathBuf);

    impl System {
        fn new(name: &str, cgroup: &str, mountinfo: &str) -> Self {
            let system = Self(std::env::temp_dir().join(format!("odonata-memory-{}-{name}", std::process::id())));
            system.put("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable:    8000000 kB\n");
            system.put("proc/self/cgroup", cgroup);
            system.put("proc/self/mountinfo", mountinfo);
            system.put("proc/self/status", "VmSize:  1000000 kB\nVmData:  400000 kB\n");
            system.limits("unlimited", "unlimited");
            system
        }

        fn put(&self, path: &str, text: &str) {
            let path = self.0.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn limits(&self, space: &str, data: &str) {
            let text = format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max data size             {data}            unlimited            bytes     \n\
                 Max address space         {space}            unlimited            bytes     \n"
            );
            self.put("proc/self/limits", &text);
        }

        fn least(&self) -> AvailableMemory {
            available_below(&self.0).unwrap()
        }
    }

    impl Drop for System {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const UNIFIED: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn without_limits_it_is_what_the_system_has_left() {
        let system = System::new("none", "0::/user.slice\n", UNIFIED);
        assert_eq!(system.least().bytes, 8_192_000_000);
        assert!(system.least().to_string().contains("MemAvailable"), "{}", system.least());
        assert_eq!(available_below(&system.0.join("nothing-here")), None);
    }

    /// Own group 3 GB of which 1 GB is used; above it 2.5 GB with 1.2 GB used, of which 0.2 GB are idle files: 1.5 GB.
    #[test]
    fn groups_above_limit_too_and_idle_files_make_room() {
        let system = System::new("v2", "0::/batch/job7\n", UNIFIED);
        system.put("sys/fs/cgroup/batch/job7/memory.max", "3000000000\n");
        system.put("sys/fs/cgroup/batch/job7/memory.high", "max\n");
        system.put("sys/fs/cgroup/batch/job7/memory.current", "1000000000\n");
        assert_eq!(system.least().bytes, 2_000_000_000);
        system.put("sys/fs/cgroup/batch/memory.max", "2500000000\n");
        system.put("sys/fs/cgroup/batch/memory.current", "1200000000\n");
        system.put("sys/fs/cgroup/batch/memory.stat", "anon 1\ninactive_file 200000000\nactive_file 5\n");
        assert_eq!(system.least().bytes, 1_500_000_000);
        assert_eq!(system.least().of, "the control group's limit (/sys/fs/cgroup/batch/memory.max)");
        // Above `memory.high` the group is slowed down until it frees something.
        system.put("sys/fs/cgroup/batch/job7/memory.high", "1100000000\n");
        assert_eq!(system.least().bytes, 100_000_000);
        assert_eq!(system.least().of, "the control group's limit (/sys/fs/cgroup/batch/job7/memory.high)");
        system.put("sys/fs/cgroup/batch/job7/memory.current", "1200000000\n");
        assert_eq!(system.least().bytes, 0);
    }

    const VERSION_1_MOUNTS: &str = "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
                                    35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

    #[test]
    fn version_1_has_other_names_and_a_number_for_no_limit() {
        let system = System::new("v1", "4:cpu,memory:/slurm/step0\n3:cpuset:/x\n0::/\n", VERSION_1_MOUNTS);
        let group = |path: &str, limit: &str, used: &str| {
            system.put(&format!("sys/fs/cgroup/memory/{path}memory.limit_in_bytes"), limit);
            system.put(&format!("sys/fs/cgroup/memory/{path}memory.usage_in_bytes"), used);
        };
        group("slurm/step0/", "9223372036854771712\n", "700000000\n");
        assert_eq!(system.least().bytes, 8_192_000_000);
        group("slurm/", "1000000000\n", "700000000\n");
        system.put("sys/fs/cgroup/memory/slurm/memory.stat", "inactive_file 3\ntotal_inactive_file 50000000\n");
        assert_eq!(system.least().bytes, 350_000_000);
        assert_eq!(system.least().of, "the control group's limit (/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes)");
    }

    /// The process names its group by its place in the whole tree; the mount shows the container's part of it, or its root only.
    #[test]
    fn containers_show_a_part_of_the_tree() {
        for (name, shows, at) in [("part", "/pod/c1", "run"), ("other", "/elsewhere", "")] {
            let mounts = format!("30 23 0:26 {shows} /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
            let system = System::new(name, "0::/pod/c1/run\n", &mounts);
            system.put(&format!("sys/fs/cgroup/{at}/memory.max"), "600000000");
            system.put(&format!("sys/fs/cgroup/{at}/memory.current"), "100000000");
            assert_eq!(system.least().bytes, 500_000_000, "{shows}");
        }
    }

    #[test]
    fn addresses_and_data_are_limited_by_the_process_itself() {
        let system = System::new("rlimit", "", "");
        system.limits("2000000000", "unlimited");
        assert_eq!(system.least().bytes, 2_000_000_000 - 1_024_000_000 - RESERVED_BYTES);
        assert!(system.least().of.contains("RLIMIT_AS"), "{}", system.least());
        system.limits("2000000000", "1000000000");
        assert_eq!(system.least().bytes, 1_000_000_000 - 409_600_000 - RESERVED_BYTES);
        assert!(system.least().of.contains("RLIMIT_DATA"), "{}", system.least());
    }

    #[test]
    fn a_machine_takes_no_more_than_is_left() {
        let left = |bytes| Some(AvailableMemory { bytes, of: "the system's memory".into() });
        assert_eq!(admit_machine(1 << 30, left(1 << 30)), Ok(()));
        assert_eq!(admit_machine(1 << 30, None), Ok(()));
        assert_eq!(admit_machine(SMALL_BYTES, left(0)), Ok(()));
        let words = admit_machine(1 << 30, left((1 << 30) - 1)).unwrap_err();
        assert!(words.starts_with("the machine needs about 1 GiB but "), "{words}");
        assert!(words.contains("are left of the system's memory"), "{words}");
        assert!(admit_machine(SMALL_BYTES + 1, left(0)).is_err());
    }

    /// 16 B each: 2^26 take 1 GiB.
    #[test]
    fn ranks_take_no_more_than_is_left() {
        let left = |bytes| Some(AvailableMemory { bytes, of: "the system's memory".into() });
        assert_eq!(admit_ranks(1 << 26, left(1 << 30)), Ok(()));
        assert_eq!(admit_ranks(1 << 26, None), Ok(()));
        let words = admit_ranks((1 << 26) + 1, left(1 << 30)).unwrap_err();
        assert!(words.starts_with("the 67108865 ranks of the jobs need about 1.000 GiB but 1 GiB are left"), "{words}");
        assert!(admit_ranks(u64::MAX, left(1 << 40)).is_err());
    }

    #[test]
    fn this_system_says_something() {
        let known = Path::new("/proc/meminfo").exists();
        assert_eq!(available().is_some(), known);
        assert_eq!(resident_bytes() > 100_000, known);
    }
}
