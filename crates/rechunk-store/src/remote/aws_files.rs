//! The files in which AWS tools keep credentials and regions, `~/.aws/credentials` and
//! `~/.aws/config`, of which `object_store` reads none.
//!
//! Form: <https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html>. Profiles with
//! static keys are read; those that name another program, a role or a login are not.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use object_store::aws::AmazonS3ConfigKey;

/// Largest such file that is read, bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Settings in the files for the profile that `AWS_PROFILE` names, else for `default`.
#[expect(clippy::disallowed_methods, reason = "variables of AWS, where its own tools have them")]
pub(crate) fn settings() -> Vec<(AmazonS3ConfigKey, String)> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let file = |name: &str, default: &str| {
        let named = variable(name).map(PathBuf::from);
        named.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".aws").join(default)))
    };
    let profile = variable("AWS_PROFILE").unwrap_or_else(|| OsString::from("default"));
    let profile = profile.to_string_lossy();
    let read = |path: Option<PathBuf>| {
        let path =
            path.filter(|p| p.metadata().is_ok_and(|m| m.is_file() && m.len() <= FILE_BYTES_MAX));
        path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
    };
    let config = read(file("AWS_CONFIG_FILE", "config"));
    let credentials = read(file("AWS_SHARED_CREDENTIALS_FILE", "credentials"));
    of_profile(&config, &credentials, &profile)
}

/// Settings of a profile in the texts of the two files; credentials of the second win.
fn of_profile(config: &str, credentials: &str, profile: &str) -> Vec<(AmazonS3ConfigKey, String)> {
    let in_config =
        if profile == "default" { profile.to_owned() } else { format!("profile {profile}") };
    let mut found = section(config, &in_config);
    found.extend(section(credentials, profile));
    let keys = [
        ("aws_access_key_id", AmazonS3ConfigKey::AccessKeyId),
        ("aws_secret_access_key", AmazonS3ConfigKey::SecretAccessKey),
        ("aws_session_token", AmazonS3ConfigKey::Token),
        ("region", AmazonS3ConfigKey::Region),
        ("endpoint_url", AmazonS3ConfigKey::Endpoint),
    ];
    keys.into_iter()
        .filter_map(|(name, key)| found.remove(name).map(|value| (key, value)))
        .collect()
}

/// The settings of a section. Indented lines belong to the setting before them and are left out.
fn section(text: &str, wanted: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut is_wanted = false;
    for line in text.lines() {
        if line.starts_with(char::is_whitespace) || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.trim_end().strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            is_wanted = name.split_whitespace().eq(wanted.split_whitespace());
        } else if let Some((key, value)) = line.split_once('=').filter(|_| is_wanted) {
            found.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "[default]\nregion = eu-west-1\n[profile  lab]\nregion=us-west-2\n\
                          s3 =\n  endpoint_url = wrong\nendpoint_url = http://lab\n";
    const CREDENTIALS: &str = "# keys\n[default]\naws_access_key_id = A\naws_secret_access_key=B=\n\
                               [lab]\nAWS_ACCESS_KEY_ID=C\naws_secret_access_key = D\n";

    #[test]
    fn a_profile_is_its_sections_of_both_files() {
        use AmazonS3ConfigKey::{AccessKeyId, Endpoint, Region, SecretAccessKey};
        let pairs = |profile: &str| of_profile(CONFIG, CREDENTIALS, profile);
        let text = str::to_owned;
        assert_eq!(
            pairs("default"),
            [(AccessKeyId, text("A")), (SecretAccessKey, text("B=")), (Region, text("eu-west-1"))]
        );
        assert_eq!(
            pairs("lab"),
            [
                (AccessKeyId, text("C")),
                (SecretAccessKey, text("D")),
                (Region, text("us-west-2")),
                (Endpoint, text("http://lab")),
            ]
        );
        assert_eq!(pairs("nobody"), []);
    }
}
