//! Who calls, and what that lets them do.

/// The two kinds of API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// May call the models, and nothing that shows or changes the account.
    Inference,
    /// May also manage keys and read the account's billing.
    Admin,
}

impl KeyKind {
    pub fn name(self) -> &'static str {
        match self {
            KeyKind::Inference => "INFERENCE",
            KeyKind::Admin => "ADMIN",
        }
    }

    pub fn parse(name: &str) -> Option<KeyKind> {
        match name {
            "INFERENCE" => Some(KeyKind::Inference),
            "ADMIN" => Some(KeyKind::Admin),
            _ => None,
        }
    }
}
