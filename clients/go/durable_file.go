package events

import (
	"errors"
	"os"
	"path/filepath"
)

// writeDurably replaces a file. When it returns nil, the content is on the disk; a power failure before that leaves
// either the previous file or the new one. Only the owner of the process can read the new file.
func writeDurably(file string, content []byte) error {
	folder := filepath.Dir(file)
	// The name of the draft is random, because replicas that share a folder can have the same process id: in a container
	// it is often 1.
	draft, err := os.CreateTemp(folder, filepath.Base(file)+".*.draft")
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return syncFolder(folder)
}

// syncFolder writes a folder to the disk. Without this, a file that was renamed in it can be lost in a power failure.
func syncFolder(folder string) error {
	handle, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(handle.Sync(), handle.Close())
}
