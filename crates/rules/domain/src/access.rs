//! API key kinds and the models that a key may use.

/// The kinds of API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// May call the models, and nothing that shows or changes the account.
    Inference,
    /// May also manage keys and read the account's billing.
    Admin,
    /// May also act as the operator: credit accounts, create keys for other accounts, rotate
    /// secrets.
    Operator,
}

/// The models that a key may use, by their privacy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ModelPrivacy {
    #[default]
    All,
    /// Text models must be private; models of other types may be any.
    PrivateText,
    /// Every model must be private.
    PrivateOnly,
}

impl ModelPrivacy {
    pub fn name(self) -> &'static str {
        match self {
            ModelPrivacy::All => "ALL",
            ModelPrivacy::PrivateText => "PRIVATE_TEXT",
            ModelPrivacy::PrivateOnly => "PRIVATE_ONLY",
        }
    }

    pub fn parse(name: &str) -> Option<ModelPrivacy> {
        let all = [ModelPrivacy::All, ModelPrivacy::PrivateText, ModelPrivacy::PrivateOnly];
        all.into_iter().find(|it| it.name() == name)
    }
}

impl KeyKind {
    pub fn name(self) -> &'static str {
        match self {
            KeyKind::Inference => "INFERENCE",
            KeyKind::Admin => "ADMIN",
            KeyKind::Operator => "OPERATOR",
        }
    }

    pub fn parse(name: &str) -> Option<KeyKind> {
        match name {
            "INFERENCE" => Some(KeyKind::Inference),
            "ADMIN" => Some(KeyKind::Admin),
            "OPERATOR" => Some(KeyKind::Operator),
            _ => None,
        }
    }
}
