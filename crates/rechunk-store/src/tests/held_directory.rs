use std::fs;

use crate::Store;

async fn get(store: &Store, key: &str) -> Option<Vec<u8>> {
    store.get(key, 100).await.ok().flatten().map(Vec::from)
}

#[tokio::test]
async fn what_is_held_is_read_whatever_takes_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let [place, aside] = ["place", "aside"].map(|name| folder.path().join(name));
    fs::create_dir_all(place.join("c")).unwrap();
    fs::write(place.join("c/0"), [1]).unwrap();
    fs::write(place.join("a b"), [3]).unwrap();
    let store = Store::open(&place.to_string_lossy()).unwrap();
    assert_eq!(get(&store, "c/0").await, Some(vec![1]));
    store.hold_directory();
    let child = store.child("c").unwrap();
    for _ in 0..2 {
        assert_eq!(get(&store, "c/0").await, Some(vec![1]));
        assert_eq!(get(&child, "0").await, Some(vec![1]));
        assert_eq!(get(&store, "c/1").await, None);
        let error = store.get("c", 100).await.unwrap_err().to_string();
        assert!(error.contains("a directory"), "{error}");
        fs::rename(&place, &aside).unwrap();
        fs::create_dir_all(place.join("c")).unwrap();
        fs::write(place.join("c/0"), [2]).unwrap();
        assert_eq!(get(&store, "c/0").await, Some(vec![1]), "it has moved");
        fs::remove_dir_all(&place).unwrap();
        fs::rename(&aside, &place).unwrap();
    }
    assert_eq!(get(&store, "a b").await, Some(vec![3]), "a name that is no plain one");
    fs::remove_dir_all(&place).unwrap();
    fs::create_dir_all(place.join("c")).unwrap();
    fs::write(place.join("c/0"), [2]).unwrap();
    assert_eq!(get(&store, "c/0").await, Some(vec![2]), "it is gone: there is another one");
}

#[tokio::test]
async fn what_cannot_be_held_is_read_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("later");
    let store = Store::open(&place.to_string_lossy()).unwrap();
    store.hold_directory();
    assert_eq!(get(&store, "0").await, None);
    fs::create_dir(&place).unwrap();
    fs::write(place.join("0"), [1]).unwrap();
    assert_eq!(get(&store, "0").await, Some(vec![1]));
}
