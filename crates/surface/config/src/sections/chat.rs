//! `[chat]`: settings for all chats.

use crate::key_type::{FLAG, TEXT, TEXTS};
use crate::section_table::config_section;

const SYSTEM_PROMPT_CHARS_MAX: usize = 8_000;

config_section! {
    /// Settings for all chats.
    #[section(One, "chat")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ChatConfig {
        /// Inserted before the callers' own system prompts. Callers pay for its tokens and can
        /// disable it with `include_service_system_prompt`. Empty: no system prompt.
        system_prompt: String = TEXT,
            default("Answer helpfully and to the point. Say so when you are not sure."),
            parse(check_system_prompt);
        /// Resolves the hosts of images, videos and files that engines download, and refuses
        /// hosts that cannot be resolved or have a private address. Set it to false if this
        /// machine cannot resolve public names.
        resolve_media_hosts: bool = FLAG, default(true);
        /// The domains, including subdomains, from which engines may download images, videos and
        /// files. Empty: any public host.
        media_domains: Vec<String> = TEXTS, default([]), parse(parse_media_domains);
    }
}

fn check_system_prompt(prompt: String) -> Result<String, String> {
    if SYSTEM_PROMPT_CHARS_MAX < prompt.chars().count() {
        return Err(format!("must be at most {SYSTEM_PROMPT_CHARS_MAX} characters long"));
    }
    Ok(prompt)
}

/// Returns the domains in lower case.
fn parse_media_domains(written: Vec<String>) -> Result<Vec<String>, String> {
    let parse_domain = |written: String| {
        let domain = written.trim_start_matches('.').to_ascii_lowercase();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        if domain.is_empty() || !domain.bytes().all(is_name) {
            let example = "\"images.example.com\"";
            return Err(format!("must be names such as {example}, not {written:?}"));
        }
        Ok(domain)
    };
    written.into_iter().map(parse_domain).collect()
}
