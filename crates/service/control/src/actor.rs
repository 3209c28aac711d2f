//! The author of a command, as named in the audit trail: an operating-system user, key or service.

use std::os::unix::fs::MetadataExt;

use serde::{Deserialize, Serialize};

/// Maximum length of a user name in the audit trail; the uid is appended to it.
const NAME_CHARS_MAX: usize = 100;

/// The author of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditActor {
    name: String,
}

impl AuditActor {
    /// The user with this uid, by name if `/etc/passwd` has one.
    pub fn with_uid(uid: u32) -> AuditActor {
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        AuditActor { name: format_user(&users, uid) }
    }

    /// The user that runs this process.
    pub fn of_this_process() -> AuditActor {
        match std::fs::metadata("/proc/self") {
            Ok(process) => AuditActor::with_uid(process.uid()),
            Err(_) => AuditActor { name: "unknown".to_owned() },
        }
    }

    /// The operator over HTTP, by the last six characters of the OPERATOR key.
    pub fn of_operator_key(last6: &str) -> AuditActor {
        AuditActor { name: format!("operator key …{last6}") }
    }

    /// The service itself, for its own background work.
    pub fn of_service() -> AuditActor {
        AuditActor { name: "the service".to_owned() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

/// `alice (1000)`, or `user 1000`.
fn format_user(users: &str, uid: u32) -> String {
    let number = uid.to_string();
    let found = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, is_this) = (fields.next()?, fields.nth(1)? == number);
        (is_this && !name.is_empty()).then_some(name)
    });
    match found {
        Some(name) => {
            let short: String = name.chars().take(NAME_CHARS_MAX).collect();
            format!("{short} ({uid})")
        }
        None => format!("user {uid}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_names_where_the_machine_knows_them() {
        let users = "root:x:0:0:root:/root:/bin/sh\nbroken\nalice:x:1000:1000::/nowhere:/bin/sh";
        assert_eq!(format_user(users, 0), "root (0)");
        assert_eq!(format_user(users, 1000), "alice (1000)");
        assert_eq!(format_user(users, 7), "user 7");
        assert_eq!(format_user("", 7), "user 7");
    }
}
