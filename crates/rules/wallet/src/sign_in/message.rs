//! The text of a sign-in in the EIP-4361 format, which Solana wallets use too.

use std::fmt;

const HEADLINE: &str = " wants you to sign in with your ";

/// The fields of a sign-in text, byte for byte. Dates are not parsed here: a date that is formatted
/// again may differ from the signed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInMessage {
    pub domain: String,
    pub account_kind: AccountKind,
    pub address: String,
    pub statement: SignInStatement,
    pub uri: String,
    pub version: String,
    pub chain_id: Option<String>,
    pub nonce: Option<String>,
    pub issued_at: String,
    pub expiration_time: Option<String>,
    pub not_before: Option<String>,
    pub request_id: Option<String>,
    /// None if there is no such heading, which may also stand above an empty list.
    pub resources: Option<Vec<String>>,
}

/// The kind of account in the first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountKind {
    Ethereum,
    Solana,
}

/// The statement for the user, on a line of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInStatement {
    Text(String),
    /// No text; EIP-4361 still leaves an empty line for it.
    Blank,
    /// No text and no line for it, as Solana's formatter writes it.
    Omitted,
}

impl SignInMessage {
    /// Parses a text. None unless [`ToString::to_string`] returns the same text.
    pub fn parse(text: &str) -> Option<SignInMessage> {
        let mut lines = MessageLines { rest: text.split('\n').collect(), next: 0 };
        let (domain, account) = lines.take()?.split_once(HEADLINE)?;
        let account_kind = match account {
            "Ethereum account:" => AccountKind::Ethereum,
            "Solana account:" => AccountKind::Solana,
            _ => return None,
        };
        let address = lines.take()?;
        if !lines.take()?.is_empty() {
            return None;
        }
        let statement = lines.parse_statement()?;
        let message = SignInMessage {
            domain: domain.to_owned(),
            account_kind,
            address: address.to_owned(),
            statement,
            uri: lines.parse_field("URI: ")?,
            version: lines.parse_field("Version: ")?,
            chain_id: lines.parse_field("Chain ID: "),
            nonce: lines.parse_field("Nonce: "),
            issued_at: lines.parse_field("Issued At: ")?,
            expiration_time: lines.parse_field("Expiration Time: "),
            not_before: lines.parse_field("Not Before: "),
            request_id: lines.parse_field("Request ID: "),
            resources: lines.parse_resources(),
        };
        lines.is_at_end().then_some(message)
    }
}

impl fmt::Display for SignInMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let account = match self.account_kind {
            AccountKind::Ethereum => "Ethereum account:",
            AccountKind::Solana => "Solana account:",
        };
        write!(f, "{}{HEADLINE}{account}\n{}\n\n", self.domain, self.address)?;
        match &self.statement {
            SignInStatement::Text(statement) => write!(f, "{statement}\n\n")?,
            SignInStatement::Blank => f.write_str("\n")?,
            SignInStatement::Omitted => {}
        }
        write!(f, "URI: {}\nVersion: {}", self.uri, self.version)?;
        write_field(f, "Chain ID", self.chain_id.as_deref())?;
        write_field(f, "Nonce", self.nonce.as_deref())?;
        write_field(f, "Issued At", Some(&self.issued_at))?;
        write_field(f, "Expiration Time", self.expiration_time.as_deref())?;
        write_field(f, "Not Before", self.not_before.as_deref())?;
        write_field(f, "Request ID", self.request_id.as_deref())?;
        if let Some(resources) = &self.resources {
            f.write_str("\nResources:")?;
            for resource in resources {
                write!(f, "\n- {resource}")?;
            }
        }
        Ok(())
    }
}

fn write_field(f: &mut fmt::Formatter<'_>, name: &str, value: Option<&str>) -> fmt::Result {
    match value {
        Some(value) => write!(f, "\n{name}: {value}"),
        None => Ok(()),
    }
}

struct MessageLines<'a> {
    rest: Vec<&'a str>,
    next: usize,
}

impl<'a> MessageLines<'a> {
    fn take(&mut self) -> Option<&'a str> {
        let line = self.peek(0)?;
        self.next += 1;
        Some(line)
    }

    fn peek(&self, ahead: usize) -> Option<&'a str> {
        self.rest.get(self.next + ahead).copied()
    }

    /// Parses the statement, which may look like a field; the next line tells them apart.
    fn parse_statement(&mut self) -> Option<SignInStatement> {
        let (first, second) = (self.peek(0)?, self.peek(1)?);
        if first.starts_with("URI: ") && second.starts_with("Version: ") {
            return Some(SignInStatement::Omitted);
        }
        self.next += 1;
        if first.is_empty() && second.starts_with("URI: ") {
            return Some(SignInStatement::Blank);
        }
        self.next += 1;
        second.is_empty().then(|| SignInStatement::Text(first.to_owned()))
    }

    /// The value of the next line, if it has this label.
    fn parse_field(&mut self, label: &str) -> Option<String> {
        let value = self.peek(0)?.strip_prefix(label)?;
        self.next += 1;
        Some(value.to_owned())
    }

    fn parse_resources(&mut self) -> Option<Vec<String>> {
        if self.peek(0)? != "Resources:" {
            return None;
        }
        self.next += 1;
        let mut resources = Vec::new();
        while let Some(resource) = self.parse_field("- ") {
            resources.push(resource);
        }
        Some(resources)
    }

    fn is_at_end(&self) -> bool {
        self.next == self.rest.len()
    }
}
