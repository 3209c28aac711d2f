//! The processes below this one, from `/proc`.

use std::collections::HashSet;
use std::fs;

#[derive(Debug)]
pub(super) struct ProcessTree(Vec<TreeProcess>);

#[derive(Debug)]
pub(super) struct TreeProcess {
    id: u32,
    parent: u32,
    name: String,
    pub(super) is_renderer: bool,
    is_zombie: bool,
    pub(super) user: u32,
    /// Effective capabilities as a bit mask.
    pub(super) capabilities: u64,
    memory_bytes: u64,
}

impl ProcessTree {
    pub(super) fn look() -> ProcessTree {
        let mut found: Vec<TreeProcess> =
            children(std::process::id()).into_iter().filter_map(TreeProcess::look).collect();
        let mut looked_at = 0;
        while let Some(process) = found.get(looked_at) {
            looked_at += 1;
            let more: Vec<TreeProcess> =
                children(process.id).into_iter().filter_map(TreeProcess::look).collect();
            found.extend(more);
        }
        ProcessTree(found)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn running(&self) -> impl Iterator<Item = &TreeProcess> {
        self.0.iter().filter(|it| !it.is_zombie)
    }

    pub(super) fn zombies(&self) -> impl Iterator<Item = &TreeProcess> {
        self.0.iter().filter(|it| it.is_zombie)
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.0.iter().map(|it| it.memory_bytes).sum()
    }

    /// The main processes of browsers, which a keeper started.
    pub(super) fn browsers(&self) -> Vec<u32> {
        let keepers: HashSet<u32> =
            self.0.iter().filter(|it| it.parent == std::process::id()).map(|it| it.id).collect();
        let browsers = self.running().filter(|it| keepers.contains(&it.parent));
        browsers.filter(|it| !it.name.contains("crashpad")).map(|it| it.id).collect()
    }

    /// Returns the number of listening TCP sockets of these processes.
    pub(super) fn listening_sockets(&self) -> usize {
        let table = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let tables = table("/proc/net/tcp") + &table("/proc/net/tcp6");
        let listening = tables.lines().filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            (fields.get(3) == Some(&"0A")).then(|| format!("socket:[{}]", fields[9]))
        });
        let listening: HashSet<String> = listening.collect();
        let open = self.running().flat_map(|it| {
            let files = fs::read_dir(format!("/proc/{}/fd", it.id)).into_iter().flatten().flatten();
            files.filter_map(|it| fs::read_link(it.path()).ok()).collect::<Vec<_>>()
        });
        open.filter(|it| listening.contains(&*it.to_string_lossy())).count()
    }
}

impl TreeProcess {
    fn look(id: u32) -> Option<TreeProcess> {
        let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)
        };
        let kb = |name: &str| field(name).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
        let command = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        Some(TreeProcess {
            id,
            parent: field("PPid:")?.parse().ok()?,
            name: field("Name:")?.to_owned(),
            is_renderer: command.contains("--type=renderer"),
            is_zombie: field("State:")? == "Z",
            user: field("Uid:")?.parse().ok()?,
            capabilities: u64::from_str_radix(field("CapEff:")?, 16).ok()?,
            memory_bytes: (kb("RssAnon:") + kb("RssShmem:")) * 1024,
        })
    }

    /// True if the process has a user namespace other than this process's.
    pub(super) fn is_in_own_users(&self) -> bool {
        let of = |id: &str| fs::read_link(format!("/proc/{id}/ns/user")).ok();
        of(&self.id.to_string()) != of("self")
    }
}

fn children(id: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|it| fs::read_to_string(it.path().join("children")).ok());
    let ids = lists.flat_map(|it| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    ids.filter_map(|it| it.parse().ok()).collect()
}
