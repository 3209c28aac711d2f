//! What a model may be called, and which names are close to one that nobody has.

use super::ModelType;

/// No id or alias is longer; what is longer is not looked up.
pub const MODEL_NAME_BYTES_MAX: usize = 128;

/// Fewer than this and a list helps; more and nobody reads it.
const SUGGESTIONS_MAX: usize = 3;

/// Names less alike than this are not worth suggesting.
const LIKENESS_MIN: f64 = 0.75;

/// One meaning of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) kind: NameKind,
    pub(super) model_type: ModelType,
    /// The position of the model in the catalogue.
    pub(super) model: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    Id,
    Alias,
    Trait,
}

/// The form in which names are compared. People write `Llama 3.3_70B` for `llama-3.3-70b`, and
/// put `service-` in front or leave it out.
pub(super) fn folded(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| match c {
            '.' | '_' | ' ' => '-',
            other => other.to_ascii_lowercase(),
        })
        .collect();
    match name.strip_prefix("service-") {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => name,
    }
}

/// What is left of `router/openai/gpt-4o` without whoever stands in front, as some clients write
/// it: `openai/gpt-4o`, then `gpt-4o`.
pub(super) fn bare_names(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(slash, _)| &name[slash + 1..])
}

/// The candidates most like `asked`, best first.
pub(super) fn nearest<'a>(
    asked: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let asked = folded(asked);
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&asked, &folded(candidate)), candidate))
        .filter(|(likeness, _)| LIKENESS_MIN <= *likeness)
        .collect();
    scored.sort_by(|(a, a_name), (b, b_name)| b.total_cmp(a).then_with(|| a_name.cmp(b_name)));
    scored.dedup_by(|(_, a), (_, b)| a == b);
    scored.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name.to_owned()).collect()
}
