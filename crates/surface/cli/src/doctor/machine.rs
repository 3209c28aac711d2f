//! Checks the system clock and the limit of open files.

use moment::{Clock, SystemClock, Timestamp};

use super::CheckFinding;

/// Earlier than every release; a clock before this date was never set.
const EARLIEST: &str = "2026-01-01";
/// Each stream needs two descriptors: one for the client and one for the upstream.
const OPEN_FILES_WANTED: u64 = 4096;

pub(crate) fn check_machine() -> Vec<CheckFinding> {
    let mut findings = vec![check_clock(SystemClock.now())];
    let limits = std::fs::read_to_string("/proc/self/limits");
    // Systems without this file are not checked: another way would need a dependency.
    findings.extend(limits.ok().and_then(|limits| open_files(&limits)));
    findings
}

fn check_clock(now: Timestamp) -> CheckFinding {
    let is_plausible = Timestamp::parse(EARLIEST).is_some_and(|earliest| earliest <= now);
    if is_plausible {
        return CheckFinding::ok("clock", now.to_string());
    }
    let fix = "set it, and synchronize it with NTP: signatures and expiry depend on it";
    CheckFinding::failed("clock", format!("{now} is in the past"), fix)
}

fn open_files(limits: &str) -> Option<CheckFinding> {
    let line = limits.lines().find(|line| line.starts_with("Max open files"))?;
    let soft = line.trim_start_matches("Max open files").split_whitespace().next()?;
    let is_enough = match soft.parse::<u64>() {
        Ok(soft) => OPEN_FILES_WANTED <= soft,
        Err(_) => soft == "unlimited",
    };
    if is_enough {
        return Some(CheckFinding::ok("open files", format!("up to {soft}")));
    }
    let fix =
        format!("raise the limit: `ulimit -n {OPEN_FILES_WANTED}`, or LimitNOFILE= for systemd");
    Some(CheckFinding::warning("open files", format!("only {soft}"), fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::CheckVerdict;

    #[track_caller]
    fn check_limit(soft: &str, expected: Option<CheckVerdict>) {
        let text = format!(
            "Limit    Soft Limit   Hard Limit   Units\nMax open files    {soft}    524288    files\n"
        );
        assert_eq!(open_files(&text).map(|finding| finding.verdict), expected);
    }

    #[test]
    fn few_open_files_are_worth_a_warning() {
        check_limit("1024", Some(CheckVerdict::Warning));
        check_limit("4096", Some(CheckVerdict::Ok));
        check_limit("unlimited", Some(CheckVerdict::Ok));
        assert_eq!(open_files("something else"), None);
    }

    #[test]
    fn a_clock_that_was_never_set_fails() {
        assert_eq!(check_clock(Timestamp::from_ms(0)).verdict, CheckVerdict::Failed);
        assert_eq!(check_clock(Timestamp::from_ms(1_800_000_000_000)).verdict, CheckVerdict::Ok);
    }
}
