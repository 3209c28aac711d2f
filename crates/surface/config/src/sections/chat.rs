//! `[chat]`: settings for all chats.

use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

const SYSTEM_PROMPT_CHARS_MAX: usize = 8_000;

pub const SECTION: ConfigSection = ConfigSection {
    name: "chat",
    form: SectionForm::One,
    doc: "Settings for all chats.",
    keys: &[
        ConfigKey::with_default(
            "system_prompt",
            ValueKind::Text,
            "\"Answer helpfully and to the point. Say so when you are not sure.\"",
            "Inserted before the callers' own system prompts. Callers pay for its tokens and can \
             disable it with `include_service_system_prompt`. Empty: no system prompt.",
        ),
        ConfigKey::with_default(
            "resolve_media_hosts",
            ValueKind::Flag,
            "true",
            "Resolves the hosts of images, videos and files that engines download, and refuses \
             hosts that cannot be resolved or have a private address. Set it to false if this \
             machine cannot resolve public names.",
        ),
        ConfigKey::with_default(
            "media_domains",
            ValueKind::Texts,
            "[]",
            "The domains, including subdomains, from which engines may download images, videos and \
             files. Empty: any public host.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatConfig {
    pub system_prompt: String,
    pub resolve_media_hosts: bool,
    /// In lower case. Empty: all domains are allowed.
    pub media_domains: Vec<String>,
}

pub(crate) fn read_chat_config(reader: &TableReader<'_>) -> Option<ChatConfig> {
    let system_prompt = reader.text("system_prompt")?;
    if SYSTEM_PROMPT_CHARS_MAX < system_prompt.chars().count() {
        let message = format!(
            "`system_prompt` in [chat] must be at most {SYSTEM_PROMPT_CHARS_MAX} characters long"
        );
        reader.report_fault("system_prompt", message);
        return None;
    }
    let resolve_media_hosts = reader.flag("resolve_media_hosts")?;
    let media_domains = media_domains(reader)?;
    Some(ChatConfig { system_prompt, resolve_media_hosts, media_domains })
}

fn media_domains(reader: &TableReader<'_>) -> Option<Vec<String>> {
    let mut domains = Vec::new();
    for written in reader.texts("media_domains")? {
        let domain = written.trim_start_matches('.').to_ascii_lowercase();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        if domain.is_empty() || !domain.bytes().all(is_name) {
            let message = format!(
                "`media_domains` in [chat] must be names such as \"images.example.com\", not {written:?}"
            );
            reader.report_fault("media_domains", message);
            return None;
        }
        domains.push(domain);
    }
    Some(domains)
}
