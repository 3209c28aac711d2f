//! `tollgate` without arguments: prints the status and the next steps.

use config::sources::FILE_NAME;
use control::operation::Operation;
use control::reply::Reply;

use crate::engine::Engine;
use crate::failure::Failure;
use crate::operator::Operator;
use crate::output::print;
use crate::surroundings::Surroundings;

pub(crate) async fn run(surroundings: &Surroundings, engine: Engine) -> Result<(), Failure> {
    let mut operator = Operator::connect(surroundings, engine).await?;
    let mut url = None;
    if operator.is_running()
        && let Reply::Status(status) = operator.perform(Operation::Ping).await?
    {
        url = Some(status.api_url.unwrap_or_default());
    }
    let named = surroundings.config_file.clone().unwrap_or_else(|| FILE_NAME.into());
    let has_file = surroundings.folder.join(named).exists();
    print(&text(url.as_deref(), has_file))
}

fn text(running: Option<&str>, has_file: bool) -> String {
    let head = "Tollgate turns models into a paid API.\n\n";
    let next = match running {
        Some(api) => {
            let site = api.trim_end_matches("/api/v1");
            format!(
                "It runs here: {api}\n\n  \
                 {site}/\n      the console: keys, usage, a playground\n  \
                 tollgate chat \"Say hello.\"\n      a first call\n  \
                 tollgate keys create --type inference\n      a key for a program\n"
            )
        }
        None if has_file => "Nothing runs yet. Next:\n\n  \
             tollgate doctor\n      whether everything that tollgate.toml names is there\n  \
             tollgate serve\n      runs the service and prints a link into the console\n"
            .to_owned(),
        None => "Nothing runs yet. Next:\n\n  \
             tollgate serve\n      runs on the defaults, with small models on this machine\n  \
             tollgate init\n      writes tollgate.toml, with the engines it finds on this machine\n  \
             tollgate demo\n      runs with invented accounts and usage, to look around\n"
            .to_owned(),
    };
    format!("{head}{next}\n`tollgate --help` lists all commands.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_depends_on_what_is_there() {
        assert!(text(None, false).contains("tollgate init"));
        assert!(text(None, true).contains("tollgate doctor"));
        let running = text(Some("http://127.0.0.1:8080/api/v1"), true);
        assert!(running.contains("http://127.0.0.1:8080/\n"), "{running}");
    }
}
