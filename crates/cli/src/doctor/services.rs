//! Checks that the search service answers, and that the browser is installed.

use config::read::Config;
use config::sections::scrape::{Chromium, Scrape};
use config::sections::search::SearchService;
use futures_util::future::join_all;
use reqwest::Client;

use super::Finding;
use super::providers::client;

pub(super) async fn check(config: &Config) -> Vec<Finding> {
    let mut findings = vec![chromium(&config.scrape)];
    let named = named(config);
    if named.is_empty() {
        return findings;
    }
    match client() {
        Ok(client) => {
            let answers = named.iter().map(|(check, url)| answer(&client, check, url));
            findings.extend(join_all(answers).await);
        }
        Err(finding) => findings.push(finding),
    }
    findings
}

/// Returns the setting and the URL of each service.
fn named(config: &Config) -> Vec<(&'static str, &str)> {
    let search = match &config.search.service {
        SearchService::Searxng { url, .. } => Some(url.as_str()),
        SearchService::Brave { url, .. } | SearchService::Tavily { url, .. } => url.as_deref(),
        SearchService::Off => None,
    };
    search.map(|url| ("search.url", url)).into_iter().collect()
}

/// Checks that a service answers, with any status below 500. The URL is not shown, because it may
/// contain a key.
async fn answer(client: &Client, check: &str, url: &str) -> Finding {
    match client.get(url).send().await {
        Ok(response) if response.status().is_server_error() => {
            let found = format!("answers {}", response.status());
            Finding::warning(check, found, "look at its own log")
        }
        Ok(_) => Finding::ok(check, "answers"),
        Err(error) => {
            let reason = if error.is_timeout() { "no answer in time" } else { "cannot connect" };
            Finding::failed(check, reason, format!("start it, or correct `{check}`"))
        }
    }
}

fn chromium(scrape: &Scrape) -> Finding {
    const CHECK: &str = "scrape.chromium";
    match &scrape.chromium {
        Chromium::Off => Finding::ok(CHECK, "off"),
        Chromium::At(path) if path.is_file() => Finding::ok(CHECK, path.display().to_string()),
        Chromium::At(path) => {
            let found = format!("{} is not there", path.display());
            Finding::failed(CHECK, found, "install it, or set `chromium` to \"auto\" or \"off\"")
        }
        Chromium::Auto => match found_browser() {
            Some(path) => Finding::ok(CHECK, path),
            None => {
                let fix = "install chromium, or set `chromium = \"off\"` in [scrape]";
                Finding::warning(CHECK, "no browser found; pages that need one fail", fix)
            }
        },
    }
}

fn found_browser() -> Option<String> {
    const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "headless-shell"];
    let folders = std::env::var_os("PATH")?;
    let mut candidates =
        std::env::split_paths(&folders).flat_map(|folder| NAMES.map(|name| folder.join(name)));
    candidates.find(|path| path.is_file()).map(|path| path.display().to_string())
}
