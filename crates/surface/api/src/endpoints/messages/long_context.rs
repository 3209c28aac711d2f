//! The beta that gives a model of the provider a context of a million tokens.
//!
//! The provider bills such a request at a higher rate above 200,000 tokens. It is passed on only for
//! models that are configured with a larger context, for which the operator sets
//! `price.extended`. Otherwise a caller could have the higher rate billed to the operator.

use engine::NativeHeader;

/// The context that a model of the provider has without the beta.
const USUAL_CONTEXT_TOKENS: u64 = 200_000;
const BETA_HEADER: &str = "anthropic-beta";
/// Begins the names of all versions of the beta, and stands for them in the response.
const LONG_CONTEXT: &str = "context-1m";

/// Removes the beta from the headers, unless the model's context is larger without it. Returns the
/// name of what was removed.
pub(super) fn remove_long_context(
    headers: &mut Vec<NativeHeader>,
    context_tokens: u64,
) -> Option<String> {
    if USUAL_CONTEXT_TOKENS < context_tokens {
        return None;
    }
    let mut is_removed = false;
    for header in headers.iter_mut().filter(|header| header.name == BETA_HEADER) {
        let is_long = |beta: &str| beta.trim().to_ascii_lowercase().starts_with(LONG_CONTEXT);
        if header.value.split(',').any(is_long) {
            let kept: Vec<&str> = header.value.split(',').filter(|beta| !is_long(beta)).collect();
            header.value = kept.join(",").trim().to_owned();
            is_removed = true;
        }
    }
    headers.retain(|header| header.name != BETA_HEADER || !header.value.is_empty());
    is_removed.then(|| LONG_CONTEXT.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(context_tokens: u64, betas: &[&str], kept: &[&str], removed: Option<&str>) {
        let mut headers = vec![NativeHeader {
            name: "anthropic-version".to_owned(),
            value: "context-1m".to_owned(),
        }];
        let beta = |value: &&str| NativeHeader {
            name: BETA_HEADER.to_owned(),
            value: (*value).to_owned(),
        };
        headers.extend(betas.iter().map(beta));
        let found = remove_long_context(&mut headers, context_tokens);
        assert_eq!(found.as_deref(), removed);
        let left: Vec<&str> = headers.iter().skip(1).map(|it| it.value.as_str()).collect();
        assert_eq!(left, kept);
    }

    #[test]
    fn the_long_context_is_for_models_that_have_one() {
        let betas = ["a-1, context-1m-2025-08-07,b-2", "Context-1M-2030-01-01", "c"];
        check(200_000, &betas, &["a-1,b-2", "c"], Some("context-1m"));
        check(200_001, &betas, &betas, None);
    }

    #[test]
    fn other_betas_stay_as_they_came() {
        let betas = ["a-1, b ,, my-context-1m", "context-management-2025-06-27"];
        check(1, &betas, &betas, None);
        check(1, &[], &[], None);
    }
}
