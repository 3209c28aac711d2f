//! `tollgate` without arguments: prints the status and the next steps.

use config::sources::FILE_NAME;
use control::operation::ControlOperation;
use control::reply::ControlReply;

use crate::command_environment::CommandEnvironment;
use crate::engine::BuiltInEngine;
use crate::failure::CommandError;
use crate::operator::OperationClient;
use crate::output::print_text;

pub(crate) async fn print_next_steps(
    surroundings: &CommandEnvironment,
    engine: BuiltInEngine,
) -> Result<(), CommandError> {
    let mut operator = OperationClient::connect(surroundings, engine).await?;
    let mut url = None;
    if operator.is_running()
        && let ControlReply::Status(status) = operator.perform(ControlOperation::Ping).await?
    {
        url = Some(status.api_url.unwrap_or_default());
    }
    let named = surroundings.config_file.clone().unwrap_or_else(|| FILE_NAME.into());
    let has_file = surroundings.folder.join(named).exists();
    print_text(&render_next_steps(url.as_deref(), has_file))
}

fn render_next_steps(running: Option<&str>, has_file: bool) -> String {
    let head = "Tollgate turns models into a paid API.\n\n";
    let next = match running {
        Some(api) => {
            let site = api.trim_end_matches("/api/v1");
            format!(
                "The service is running at {api}\n\n  \
                 {site}/\n      the console: keys, usage, a playground\n  \
                 tollgate chat \"Say hello.\"\n      a first call\n  \
                 tollgate keys create --type inference\n      a key for a program\n  \
                 tollgate agents\n      how to set up a coding agent\n"
            )
        }
        None if has_file => "The service is not running. Next steps:\n\n  \
             tollgate doctor\n      checks everything that tollgate.toml names\n  \
             tollgate serve\n      runs the service and prints a sign-in link for the console\n"
            .to_owned(),
        None => "The service is not running. Next steps:\n\n  \
             tollgate serve\n      runs on the defaults, with small models on this machine\n  \
             tollgate init\n      writes tollgate.toml, with the engines it finds on this machine\n  \
             tollgate demo\n      runs a demo with sample accounts and usage\n"
            .to_owned(),
    };
    format!("{head}{next}\n`tollgate --help` lists all commands.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_depends_on_what_is_there() {
        assert!(render_next_steps(None, false).contains("tollgate init"));
        assert!(render_next_steps(None, true).contains("tollgate doctor"));
        let running = render_next_steps(Some("http://127.0.0.1:8080/api/v1"), true);
        assert!(running.contains("http://127.0.0.1:8080/\n"), "{running}");
    }
}
