//! Arguments of `tollgate agents`.

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::OutputOptions;
use crate::commands::agents::list_agent_ids;

/// Longer texts are no key, name or address.
const WORD_CHARS_MAX: usize = 512;

#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    /// The agent. Without it, the known agents are listed.
    #[arg(value_parser = PossibleValuesParser::new(list_agent_ids()))]
    pub(crate) agent: Option<String>,
    /// The API key to write. Default: a placeholder.
    #[arg(long, value_parser = parse_word)]
    pub(crate) key: Option<String>,
    /// The model to write. Default: the catalogue's default text model.
    #[arg(long, value_parser = parse_word)]
    pub(crate) model: Option<String>,
    /// The address of the service. Default: its public URL, or else its listen address.
    #[arg(long, value_parser = parse_url)]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) listing: OutputOptions,
}

/// Accepts what needs no quotes in a shell, TOML, JSON and YAML, because it is written into them.
fn parse_word(text: &str) -> Result<String, String> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._~:/@+…".contains(it);
    if text.is_empty() || WORD_CHARS_MAX < text.chars().count() {
        return Err(format!("write 1 to {WORD_CHARS_MAX} characters"));
    }
    match text.chars().find(|it| !is_plain(*it)) {
        Some(odd) => {
            Err(format!("{odd:?} cannot be in it; it may be letters, digits and -._~:/@+"))
        }
        None => Ok(text.to_owned()),
    }
}

fn parse_url(text: &str) -> Result<String, String> {
    if !["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)) {
        return Err("write the address with http:// or https://".to_owned());
    }
    let site = text.trim_end_matches('/').trim_end_matches("/v1").trim_end_matches("/api");
    parse_word(site)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_need_quotes_is_refused() {
        for odd in ["", "a b", "a\"b", "a'b", "$(x)", "a\nb", "a;b", &"a".repeat(513)] {
            assert!(parse_word(odd).is_err(), "{odd:?}");
        }
        assert_eq!(parse_word("org/model-1.5:latest").unwrap(), "org/model-1.5:latest");
    }

    #[test]
    fn an_address_is_that_of_the_site_whichever_base_url_is_given() {
        for url in ["https://a.example", "https://a.example/", "https://a.example/v1"] {
            assert_eq!(parse_url(url).unwrap(), "https://a.example");
        }
        assert_eq!(parse_url("http://a.example/api/v1/").unwrap(), "http://a.example");
        assert!(parse_url("a.example").is_err());
    }
}
