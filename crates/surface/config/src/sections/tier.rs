//! `[[tier]]`: rate limit tiers defined by the operator.

use domain::catalogue::ModelTier;
use domain::limits::tiers::{BuiltInTier, LimitClass, MinuteLimits, RateLimitTier};

use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

const PER_MINUTE: ValueKind = ValueKind::Integer { least: 0, most: 1_000_000_000_000 };

pub const SECTION: ConfigSection = ConfigSection {
    name: "tier",
    form: SectionForm::Many,
    doc: "Your own rate limits. `tollgate accounts tier NAME ID` assigns them to an account. A \
          tier named `default` replaces the limits of new accounts.",
    keys: &[
        ConfigKey::required("id", ValueKind::Text, "The name of the tier."),
        ConfigKey::with_default(
            "like",
            ValueKind::Choice(BuiltInTier::NAMES),
            "\"default\"",
            "The tier whose limits apply to keys that are absent here.",
        ),
        ConfigKey::optional(
            "text_xs_requests",
            PER_MINUTE,
            "Requests per minute to a model of tier XS.",
        ),
        ConfigKey::optional(
            "text_xs_tokens",
            PER_MINUTE,
            "Tokens per minute on a model of tier XS.",
        ),
        ConfigKey::optional(
            "text_s_requests",
            PER_MINUTE,
            "Requests per minute to a model of tier S.",
        ),
        ConfigKey::optional("text_s_tokens", PER_MINUTE, "Tokens per minute on a model of tier S."),
        ConfigKey::optional(
            "text_m_requests",
            PER_MINUTE,
            "Requests per minute to a model of tier M.",
        ),
        ConfigKey::optional("text_m_tokens", PER_MINUTE, "Tokens per minute on a model of tier M."),
        ConfigKey::optional(
            "text_l_requests",
            PER_MINUTE,
            "Requests per minute to a model of tier L.",
        ),
        ConfigKey::optional("text_l_tokens", PER_MINUTE, "Tokens per minute on a model of tier L."),
        ConfigKey::optional("image_requests", PER_MINUTE, "Requests per minute to an image model."),
        ConfigKey::optional(
            "audio_requests",
            PER_MINUTE,
            "Requests per minute to a speech or transcription model.",
        ),
        ConfigKey::optional(
            "embedding_requests",
            PER_MINUTE,
            "Requests per minute to an embedding model.",
        ),
        ConfigKey::optional(
            "queue_requests",
            PER_MINUTE,
            "Videos or pieces of music queued per minute.",
        ),
        ConfigKey::optional(
            "retrieve_requests",
            PER_MINUTE,
            "Retrievals of queued media per minute.",
        ),
        ConfigKey::optional("augment_requests", PER_MINUTE, "Searches and scrapes per minute."),
        ConfigKey::optional(
            "crypto_rpc_requests",
            PER_MINUTE,
            "Calls per minute to blockchain nodes.",
        ),
        ConfigKey::optional("general_requests", PER_MINUTE, "All other requests per minute."),
    ],
};

/// Keys that limit requests only.
const COUNTED: [(&str, LimitClass); 10] = [
    ("image_requests", LimitClass::Image),
    ("audio_requests", LimitClass::Audio),
    ("embedding_requests", LimitClass::Embedding),
    ("queue_requests", LimitClass::VideoQueue),
    ("queue_requests", LimitClass::AudioQueue),
    ("retrieve_requests", LimitClass::VideoRetrieve),
    ("retrieve_requests", LimitClass::AudioRetrieve),
    ("augment_requests", LimitClass::Augment),
    ("crypto_rpc_requests", LimitClass::CryptoRpc),
    ("general_requests", LimitClass::General),
];

/// Keys of text models, which limit requests and tokens.
const MEASURED: [(&str, &str, ModelTier); 4] = [
    ("text_xs_requests", "text_xs_tokens", ModelTier::Xs),
    ("text_s_requests", "text_s_tokens", ModelTier::S),
    ("text_m_requests", "text_m_tokens", ModelTier::M),
    ("text_l_requests", "text_l_tokens", ModelTier::L),
];

pub(crate) fn read_tier(reader: &TableReader<'_>) -> Option<RateLimitTier> {
    let (id, like) = (reader.text("id"), reader.choice("like"));
    // All keys are read before an error is returned, so that all faults are reported.
    let bounds = SECTION.keys.iter().filter(|key| key.kind == PER_MINUTE);
    let bounds: Vec<_> = bounds.map(|key| (key.name, reader.integer(key.name))).collect();
    let bound = |name: &str| {
        let (_, bound) = bounds.iter().find(|(known, _)| *known == name)?;
        bound.and_then(|bound| u64::try_from(bound).ok())
    };
    let mut tier = BuiltInTier::parse(like?)?.with_name(&id?);
    for (requests, tokens, size) in MEASURED {
        let class = LimitClass::Text(size);
        let before = tier.limits_for(class);
        let requests = bound(requests).unwrap_or(before.requests);
        let tokens = bound(tokens).or(before.tokens);
        tier = tier.with_limits(class, MinuteLimits { requests, tokens });
    }
    for (key, class) in COUNTED {
        if let Some(requests) = bound(key) {
            tier = tier.with_limits(class, MinuteLimits { requests, tokens: None });
        }
    }
    Some(tier)
}
