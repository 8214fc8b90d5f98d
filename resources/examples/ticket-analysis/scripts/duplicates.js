// SPDX-License-Identifier: Apache-2.0
// Reads a JSON array of support tickets on standard input and prints groups of probable duplicates: open tickets whose
// subjects and bodies share most of their telling words. Writes the same to duplicates.json.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const OUT = process.env.TICKETS_OUT || '/workspace/out';
const ALIKE = 0.35; // of the words of both, the share that both have (Jaccard)
const STOP = new Set('a an and are as at be but by can for from has have i in is it its my not of on or our since so that the their there this to was we when with you your'.split(' '));

function tellingWords(ticket) {
    const text = `${ticket.subject} ${ticket.body || ''}`.toLowerCase();
    return new Set((text.match(/[\p{L}\p{N}]+/gu) || []).filter((word) => word.length > 2 && !STOP.has(word)));
}

function likeness(a, b) {
    let shared = 0;
    for (const word of a) shared += b.has(word) ? 1 : 0;
    const all = a.size + b.size - shared;
    return all === 0 ? 0 : shared / all;
}

// Joins tickets that are alike, directly or through a third one.
function group(tickets) {
    const words = tickets.map(tellingWords);
    const leader = tickets.map((_, index) => index);
    const find = (i) => {
        while (leader[i] !== i) i = leader[i] = leader[leader[i]];
        return i;
    };
    for (let i = 0; i < tickets.length; ++i) {
        for (let j = i + 1; j < tickets.length; ++j) {
            if (likeness(words[i], words[j]) >= ALIKE) leader[find(j)] = find(i);
        }
    }
    const groups = new Map();
    tickets.forEach((ticket, index) => {
        const key = find(index);
        groups.set(key, [...(groups.get(key) || []), ticket]);
    });
    return [...groups.values()].filter((one) => one.length > 1);
}

function main() {
    let tickets;
    try {
        tickets = JSON.parse(fs.readFileSync(0, 'utf8'));
        if (!Array.isArray(tickets)) throw new TypeError('not an array');
    } catch (error) {
        process.stderr.write(`duplicates.js: the input is not an array of tickets (${error.message}); see assets/input-schema.json\n`);
        process.exitCode = 1;
        return;
    }
    const open = tickets.filter((ticket) => (ticket.status || 'open') === 'open');
    const groups = group(open).map((members) => ({
        tickets: members.map((ticket) => ticket.id).sort(),
        subject: members[0].subject,
    }));
    const text = JSON.stringify({open: open.length, groups}, null, 2) + '\n';
    fs.mkdirSync(OUT, {recursive: true});
    fs.writeFileSync(path.join(OUT, 'duplicates.json'), text);
    process.stdout.write(text);
}

main();
