//! Normalizes model names, and finds names similar to an unknown one.

use super::ModelType;

/// Maximum length of an id or alias; longer names are not looked up.
pub const MODEL_NAME_BYTES_MAX: usize = 128;

/// Maximum suggestions in an error message; a longer list is not read.
const SUGGESTIONS_MAX: usize = 3;

/// Minimum similarity (Jaro-Winkler) of a suggested name.
const LIKENESS_MIN: f64 = 0.75;

/// One meaning of a name: an id, alias or trait of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NameMeaning {
    pub(super) kind: NameKind,
    pub(super) model_type: ModelType,
    /// The index of the model in the catalogue.
    pub(super) model: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    Id,
    Alias,
    Trait,
}

/// The normalized form in which names are compared. Callers write `Llama 3.3_70B` for
/// `llama-3.3-70b`, and add or omit the prefix `service-`.
pub(super) fn fold_name(name: &str) -> String {
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

/// Yields a name without its prefixes, which some clients add: for `router/openai/gpt-4o` it is
/// `openai/gpt-4o`, then `gpt-4o`.
pub(super) fn bare_names(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(slash, _)| &name[slash + 1..])
}

/// The candidates most similar to `asked`, best first.
pub(super) fn find_similar_names<'a>(
    asked: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let asked = fold_name(asked);
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&asked, &fold_name(candidate)), candidate))
        .filter(|(likeness, _)| LIKENESS_MIN <= *likeness)
        .collect();
    scored.sort_by(|(a, a_name), (b, b_name)| b.total_cmp(a).then_with(|| a_name.cmp(b_name)));
    scored.dedup_by(|(_, a), (_, b)| a == b);
    scored.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name.to_owned()).collect()
}
