//! Checks that the data directory is writable.

use std::path::Path;

use config::data_dir::DataDir;

use super::CheckFinding;

const CHECK: &str = "data directory";

pub(crate) fn check_data_dir(data_dir: &DataDir) -> CheckFinding {
    let path = &data_dir.path;
    let found = format!("{} ({})", path.display(), data_dir.origin);
    if !path.exists() {
        let above = path.ancestors().find(|above| above.exists());
        return match above.map(can_write) {
            Some(Ok(())) => CheckFinding::ok(CHECK, format!("{found}, made on the first start")),
            Some(Err(error)) => report_unwritable_dir(&found, &error),
            None => CheckFinding::failed(CHECK, found, "choose another one with --data-dir"),
        };
    }
    match can_write(path) {
        Ok(()) => CheckFinding::ok(CHECK, found),
        Err(error) => report_unwritable_dir(&found, &error),
    }
}

fn report_unwritable_dir(found: &str, error: &std::io::Error) -> CheckFinding {
    let fix = "give this user the right to write there, or choose another one with --data-dir";
    CheckFinding::failed(CHECK, format!("{found}: {error}"), fix)
}

fn can_write(directory: &Path) -> std::io::Result<()> {
    let probe = directory.join(format!(".tollgate-doctor-{}", std::process::id()));
    std::fs::write(&probe, b"probe")?;
    std::fs::remove_file(&probe)
}
