//! Checks that the data directory is writable.

use std::path::Path;

use config::data_dir::DataDir;

use super::Finding;

const CHECK: &str = "data directory";

pub(crate) fn check(data_dir: &DataDir) -> Finding {
    let path = &data_dir.path;
    let found = format!("{} ({})", path.display(), data_dir.origin);
    if !path.exists() {
        let above = path.ancestors().find(|above| above.exists());
        return match above.map(can_write) {
            Some(Ok(())) => Finding::ok(CHECK, format!("{found}, made on the first start")),
            Some(Err(error)) => refused(&found, &error),
            None => Finding::failed(CHECK, found, "choose another one with --data-dir"),
        };
    }
    match can_write(path) {
        Ok(()) => Finding::ok(CHECK, found),
        Err(error) => refused(&found, &error),
    }
}

fn refused(found: &str, error: &std::io::Error) -> Finding {
    let fix = "give this user the right to write there, or choose another one with --data-dir";
    Finding::failed(CHECK, format!("{found}: {error}"), fix)
}

fn can_write(directory: &Path) -> std::io::Result<()> {
    let probe = directory.join(format!(".tollgate-doctor-{}", std::process::id()));
    std::fs::write(&probe, b"probe")?;
    std::fs::remove_file(&probe)
}
