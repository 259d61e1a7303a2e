use super::*;

fn stream(elements: &[&[u8]]) -> Vec<u8> {
    let mut bytes = u32::try_from(elements.len()).unwrap().to_le_bytes().to_vec();
    for element in elements {
        bytes.extend(u32::try_from(element.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(element);
    }
    bytes
}

fn refused(bytes: &[u8], elements: u64, kind: VariableKind) -> String {
    VariableChunk::new(bytes.to_vec(), elements, kind).unwrap_err().to_string()
}

#[test]
fn elements_are_found_by_their_number() {
    let bytes = stream(&[b"a", b"", "b\u{e4}r".as_bytes()]);
    let chunk = VariableChunk::new(bytes.clone(), 3, VariableKind::Text).unwrap();
    let all: Vec<&[u8]> = (0..4).map(|number| chunk.element(number)).collect();
    assert_eq!(all, [b"a", &b""[..], "b\u{e4}r".as_bytes(), b""]);
    assert_eq!(chunk.stream_bytes(), bytes.len());
}

#[test]
fn streams_that_lie_are_refused() {
    let whole = stream(&[b"ab", b"c"]);
    for cut in 0..whole.len() {
        let why = refused(&whole[..cut], 2, VariableKind::Bytes);
        assert!(why.contains("vlen-bytes") && why.contains("bytes"), "{cut}: {why}");
    }
    assert!(refused(&whole, 3, VariableKind::Bytes).contains("says 2 elements"));
    let longer = [&whole[..], &[0]].concat();
    assert!(refused(&longer, 2, VariableKind::Bytes).contains("1 bytes follow"));
    // A number of elements, and a length, that no memory holds.
    let many = [0xff; 8];
    assert!(refused(&many, u64::from(u32::MAX), VariableKind::Bytes).contains("too few"));
    let long = [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
    assert!(refused(&long, 1, VariableKind::Bytes).contains("element 0 ends behind"));
    assert!(refused(&stream(&[b"a", b"\xff"]), 2, VariableKind::Text).contains("element 1 is no"));
    let odd = refused(&stream(&[b"12345678", b"1234"]), 2, VariableKind::Items(8));
    assert!(odd.contains("element 1 has 4 bytes"), "{odd}");
}

/// Every element says where it is, so that a wrong place is seen.
fn said(position: &[u64]) -> Vec<u8> {
    let text = format!("{position:?}");
    text.repeat(usize::try_from(position.iter().sum::<u64>() % 3).unwrap()).into_bytes()
}

fn of_chunk(chunk: &Region, order: &ElementOrder) -> Vec<u8> {
    let stored: Vec<Vec<u8>> = chunk.positions_in(&order.axes).map(|at| said(&at)).collect();
    stream(&stored.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn chunks_are_cut_and_put_together_in_any_order() {
    let orders = [vec![0, 1, 2], vec![2, 1, 0], vec![1, 2, 0]];
    let array = Region::whole(&[5, 4, 6]);
    for (from, to) in orders.iter().flat_map(|a| orders.iter().map(move |b| (a, b))) {
        let order =
            |axes: &[usize]| ElementOrder { axes: axes.to_vec(), ..ElementOrder::c_little(3) };
        let (from, to) = (order(from), order(to));
        let target = Region::new(vec![1, 0, 2], vec![3, 4, 4]);
        let mut parts = Vec::new();
        for start in Region::whole(&[3, 2, 2]).positions() {
            let start: Vec<u64> = start.iter().zip([2, 3, 4]).map(|(at, n)| at * n).collect();
            let chunk = Region::new(start, vec![2, 3, 4]);
            let chunk_elements = of_chunk(&chunk, &from);
            let read =
                VariableChunk::new(chunk_elements, chunk.elements(), VariableKind::Text).unwrap();
            let Some(region) = chunk.intersect(&target) else { continue };
            let body = read.cut(&chunk, &from, &region);
            let part = VariablePart { region, body: Some(body) };
            assert!(part.elements(b"").eq(part.region.positions().map(|at| said(&at))));
            parts.push(part);
        }
        assert!(array.contains(&target));
        let bytes = assembled_bytes(&parts, target.elements(), b"");
        let made = assemble(&target, &to, &parts, b"").unwrap();
        assert_eq!(made, of_chunk(&target, &to), "{from:?} {to:?}");
        assert_eq!(made.len() as u64, bytes);
    }
}

#[test]
fn elements_that_no_part_has_are_filled() {
    let chunk = Region::new(vec![3], vec![4]);
    let order = ElementOrder::c_little(1);
    let body = stream(&[b"x"])[4..].to_vec();
    let there = VariablePart { region: Region::new(vec![4], vec![1]), body: Some(body) };
    let absent = VariablePart { region: Region::new(vec![5], vec![1]), body: None };
    assert!(absent.elements(b"no").eq([b"no"]));
    let made = assemble(&chunk, &order, &[there, absent], b"no").unwrap();
    assert_eq!(made, stream(&[b"no", b"x", b"no", b"no"]));
    let scalar = Region::new(Vec::new(), Vec::new());
    let order = ElementOrder::c_little(0);
    let one = VariableChunk::new(stream(&[b"one"]), 1, VariableKind::Text).unwrap();
    let body = Some(one.cut(&scalar, &order, &scalar));
    let part = VariablePart { region: scalar.clone(), body };
    assert_eq!(assemble(&scalar, &order, &[part], b"").unwrap(), stream(&[b"one"]));
}
