//! `[[tier]]`: rate limit tiers defined by the operator.

use domain::catalogue::Tier as ModelTier;
use domain::limits::tiers::{Allowed, BuiltIn, LimitClass, Tier};

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

const PER_MINUTE: Kind = Kind::Integer { least: 0, most: 1_000_000_000_000 };

pub const SECTION: Section = Section {
    name: "tier",
    form: Form::Many,
    doc: "Your own rate limits. `tollgate accounts tier NAME ID` assigns them to an account. A \
          tier named `default` replaces the limits of new accounts.",
    keys: &[
        Key::required("id", Kind::Text, "The name of the tier."),
        Key::with_default(
            "like",
            Kind::Choice(BuiltIn::NAMES),
            "\"default\"",
            "The tier whose limits apply to keys that are absent here.",
        ),
        Key::optional("text_xs_requests", PER_MINUTE, "Requests per minute to a model of tier XS."),
        Key::optional("text_xs_tokens", PER_MINUTE, "Tokens per minute on a model of tier XS."),
        Key::optional("text_s_requests", PER_MINUTE, "Requests per minute to a model of tier S."),
        Key::optional("text_s_tokens", PER_MINUTE, "Tokens per minute on a model of tier S."),
        Key::optional("text_m_requests", PER_MINUTE, "Requests per minute to a model of tier M."),
        Key::optional("text_m_tokens", PER_MINUTE, "Tokens per minute on a model of tier M."),
        Key::optional("text_l_requests", PER_MINUTE, "Requests per minute to a model of tier L."),
        Key::optional("text_l_tokens", PER_MINUTE, "Tokens per minute on a model of tier L."),
        Key::optional("image_requests", PER_MINUTE, "Requests per minute to an image model."),
        Key::optional(
            "audio_requests",
            PER_MINUTE,
            "Requests per minute to a speech or transcription model.",
        ),
        Key::optional(
            "embedding_requests",
            PER_MINUTE,
            "Requests per minute to an embedding model.",
        ),
        Key::optional("queue_requests", PER_MINUTE, "Videos or pieces of music queued per minute."),
        Key::optional("retrieve_requests", PER_MINUTE, "Retrievals of queued media per minute."),
        Key::optional("augment_requests", PER_MINUTE, "Searches and scrapes per minute."),
        Key::optional("crypto_rpc_requests", PER_MINUTE, "Calls per minute to blockchain nodes."),
        Key::optional("general_requests", PER_MINUTE, "All other requests per minute."),
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

pub(crate) fn read(reader: &Reader<'_>) -> Option<Tier> {
    let (id, like) = (reader.text("id"), reader.choice("like"));
    // All keys are read before an error is returned, so that all faults are reported.
    let bounds = SECTION.keys.iter().filter(|key| key.kind == PER_MINUTE);
    let bounds: Vec<_> = bounds.map(|key| (key.name, reader.integer(key.name))).collect();
    let bound = |name: &str| {
        let (_, bound) = bounds.iter().find(|(known, _)| *known == name)?;
        bound.and_then(|bound| u64::try_from(bound).ok())
    };
    let mut tier = BuiltIn::parse(like?)?.named(&id?);
    for (requests, tokens, size) in MEASURED {
        let class = LimitClass::Text(size);
        let before = tier.allowed(class);
        let requests = bound(requests).unwrap_or(before.requests);
        let tokens = bound(tokens).or(before.tokens);
        tier = tier.with(class, Allowed { requests, tokens });
    }
    for (key, class) in COUNTED {
        if let Some(requests) = bound(key) {
            tier = tier.with(class, Allowed { requests, tokens: None });
        }
    }
    Some(tier)
}
