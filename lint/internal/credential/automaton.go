package credential

// automaton finds every occurrence of many words in one pass over a text, letters
// of either case alike: Aho and Corasick, "Efficient string matching" (1975), with
// the transitions of every state filled in.
type automaton struct {
	column [256]uint8 // of a byte in next; 0 for one that is in no word
	width  int
	next   []uint16 // state*width + column: the next state
	word   []uint16 // by state: one more than the word that ends there, 0 for none
	also   []uint16 // by state: the longest other state that ends in a word
	ends   []bool   // by state: a word ends there
}

// newAutomaton makes one of words in lower case. The sum of their lengths stays
// below 65,536.
func newAutomaton(words []string) *automaton {
	a := &automaton{width: 1}
	total := 1
	for _, w := range words {
		total += len(w)
		for i := range len(w) {
			if a.column[w[i]] == 0 {
				a.column[w[i]] = uint8(a.width)
				a.width++
			}
		}
	}
	for b := 'a'; b <= 'z'; b++ {
		a.column[b-'a'+'A'] = a.column[b]
	}
	a.next = make([]uint16, total*a.width)
	a.word = make([]uint16, total)
	states := 1
	for i, w := range words {
		states = a.add(w, uint16(i+1), states)
	}
	a.next, a.word = a.next[:states*a.width], a.word[:states]
	a.link()
	return a
}

// add makes the states of a word, and says how many there now are.
func (a *automaton) add(w string, id uint16, states int) int {
	state := 0
	for i := range len(w) {
		at := state*a.width + int(a.column[w[i]])
		if a.next[at] == 0 {
			a.next[at] = uint16(states)
			states++
		}
		state = int(a.next[at])
	}
	a.word[state] = id
	return states
}

// link fills in where a state goes that no word continues, level by level.
func (a *automaton) link() {
	fail := make([]uint16, len(a.word))
	a.also = make([]uint16, len(a.word))
	queue := make([]uint16, 1, len(a.word))
	for i := 0; i < len(queue); i++ {
		state := queue[i]
		row := a.next[int(state)*a.width:][:a.width]
		other := a.next[int(fail[state])*a.width:][:a.width]
		for c, to := range row {
			if to == 0 {
				row[c] = other[c]
				continue
			}
			if state != 0 {
				fail[to] = other[c]
			}
			a.also[to] = fail[to]
			if a.word[fail[to]] == 0 {
				a.also[to] = a.also[fail[to]]
			}
			queue = append(queue, to)
		}
	}
	a.ends = make([]bool, len(a.word))
	for s := range a.ends {
		a.ends[s] = a.word[s] != 0 || a.also[s] != 0
	}
}

// each calls found with every word and where it ends, in the order of their ends.
func (a *automaton) each(text []byte, found func(word, end int)) {
	state := 0
	for i, b := range text {
		state = int(a.next[state*a.width+int(a.column[b])])
		if !a.ends[state] {
			continue
		}
		for s := uint16(state); s != 0; s = a.also[s] {
			if a.word[s] != 0 {
				found(int(a.word[s])-1, i+1)
			}
		}
	}
}
